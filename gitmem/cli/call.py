"""A call: what a command line means, before it is done."""

from __future__ import annotations

import os

from gitmem.cli.terminal import Io

#: The plain function to call, as `module:name` below `gitmem.cli`, and its keyword arguments.
Call = tuple[str, dict[str, object]]
#: What needs no repository, and is called without a Memory.
ALONE = ("demonstrating:demo",)


def perform(call: Call, io: Io) -> int:
    """Call the plain function of `call`, with a Memory of the working directory; return its exit status."""
    target, values = call
    module, _, name = target.partition(":")
    function = getattr(__import__(f"gitmem.cli.{module}", fromlist=(name,)), name)
    if target in ALONE:
        return int(function(io, **values))
    from gitmem.memory import Memory

    memory = Memory.open(".", environ=os.environ)
    try:
        return int(function(memory, io, **values))
    finally:
        memory.close()
