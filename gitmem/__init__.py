"""gitmem: a memory of decisions for a git repository, kept in the repository itself.

    from gitmem import Memory
    memory = Memory.open(".")
    memory.status("users.email")

`Memory` has one method per use case; what it returns goes through `gitmem.presenters` into the dicts
that `--json` prints. Names are loaded when they are first asked for: starting fast is a feature.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["Memory", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Memory":
        from gitmem.memory import Memory

        return Memory
    raise AttributeError(f"module 'gitmem' has no attribute {name!r}")
