"""What we use of the MCP SDK, loaded without the rest of it.

The SDK's package imports its client, its HTTP servers and their frameworks with it: a third of the start-up, for a
server on stdin and stdout that uses none of them. Two empty packages stand in for the two that do nothing but
import (`mcp`, `mcp.server`) while the modules that we need load; every line that runs is the SDK's own. Where that
fails (another layout, in a later release), the SDK is loaded as it comes, and only slower (ADR 0008).
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load() -> tuple[Any, Any, Any]:
    """Return the SDK's `Server` class, its `stdio_server` and its module of types.

    Raises ImportError where the SDK isn't installed.
    """
    if "mcp" in sys.modules:
        return _import()
    before = set(sys.modules)
    try:
        _stand_in("mcp", sys.path)
        _stand_in("mcp.server", sys.modules["mcp"].__path__)
        return _import()
    except (ImportError, AttributeError, KeyError, TypeError):
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in ("mcp", "mcp_types"):
                del sys.modules[name]
        return _import()


def _import() -> tuple[Any, Any, Any]:
    import mcp_types
    from mcp.server.lowlevel.server import Server
    from mcp.server.stdio import stdio_server

    return Server, stdio_server, mcp_types


def _stand_in(name: str, path: Any) -> None:
    """Put an empty package in the place of `name`, so that its modules can be imported and itself is not run."""
    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"no package {name}", name=name)
    module = ModuleType(name)
    module.__spec__ = spec
    module.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
