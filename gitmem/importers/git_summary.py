"""What an import of git's history did."""

from __future__ import annotations

from gitmem.importers.tally import Tally


class Summary(Tally):
    """A tally with what git's history has.

    commits   how many commits were read
    reverts   how many of them took something back; `again`: how many landed it again
    """

    __slots__ = ("again", "commits", "reverts")

    def __init__(self) -> None:
        super().__init__()
        self.commits = 0
        self.reverts = 0
        self.again = 0
