"""doctor."""

from __future__ import annotations

from gitmem.cli.commands import command
from gitmem.cli.options import Json

HEADING = "Check"


@command("doctor", "examining:doctor", heading=HEADING)
def doctor(as_json: Json = False) -> None:
    """Look whether everything works here, and say what to do about what doesn't.

    Log, cache, git hooks, remotes, and each agent's client that is set up: a made-up edit goes through its own command
    line, to see that it reaches the gate. Exit 1 where something is wrong.
    """
