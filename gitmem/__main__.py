"""Where the program `git-decisions` begins; `python -m gitmem` is the same.

What agents' clients start goes to its own front end before anything of the command line is loaded: `git decisions
hook` must be fast, and must never end in a usage error, whose status would stop the edit; `git decisions mcp` keeps
stdout for its protocol, and looks for a repository until there is one.
"""

from __future__ import annotations

import gc
import os
import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv` and return its exit status; without it that of the process, which ends here."""
    try:
        return _main(argv)
    except KeyboardInterrupt:  # while modules were still loading; later ones end in `cli.entry`
        if argv is not None:
            raise
        os.write(2, b"error: interrupted; nothing was written.\n")
        return 130


def _main(argv: list[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["hook"] and not {"--help", "-h"}.intersection(words):
        from gitmem.hooks import entry as hooks

        code = hooks.main(["agent", *words[1:]])
        if argv is None:
            os._exit(code)  # taking the interpreter apart costs what the agent waits for
        return code
    if words == ["mcp"]:
        from gitmem.mcp import entry as server

        return server.main()
    if argv is None:
        # Most commands are over before there is anything to collect: walking what they loaded took a tenth of them.
        gc.set_threshold(50_000, 20, 1_000)
    from gitmem.cli import entry

    return entry.main(argv)


if __name__ == "__main__":
    sys.exit(main())
