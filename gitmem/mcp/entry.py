"""Where `git decisions mcp` begins: serve, or say in one sentence why not."""

from __future__ import annotations

import sys

from gitmem.errors import MissingExtra


def main() -> int:
    """Serve one client on stdin and stdout until stdin is closed, and return the exit status."""
    try:
        from gitmem.mcp import server

        server.serve()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio", "pydantic"):
            raise
        missing = MissingExtra(what="the MCP server", extra="mcp")
        sys.stderr.write(f"error: {missing.message}\nhint: {missing.advice}\n")
        return missing.code
    except (KeyboardInterrupt, BrokenPipeError):
        pass  # the client is gone
    return 0
