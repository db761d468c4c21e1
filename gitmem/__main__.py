"""`python -m gitmem` is `git-decisions`."""

from __future__ import annotations

import sys

from gitmem.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
