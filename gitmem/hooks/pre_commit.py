"""Before a commit, where somebody asked for it (`init --gate`): what the index would bring back stops it.

The one git hook of ours whose status may stop git, and only by an answer that was meant as one: whatever goes wrong,
and whatever takes too long, lets the commit pass.
"""

from __future__ import annotations


def check() -> str:
    """Return what to say of the commit that is about to be made; "" where nothing stops it."""
    from gitmem.core import gate
    from gitmem.memory import Memory

    memory = Memory.open()
    try:
        result = memory.gate_staged()
    finally:
        memory.close()
    return gate.message(result.ruling, result.reader) if result.ruling.is_stop else ""
