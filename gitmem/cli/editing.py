"""Texts in a person's own editor: what a proposal says, as lines to change, and what was made of them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gitmem.cli import git
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: What of a change can be said in other words, besides its reason: field, as it is written at the head of the text.
HEADS = {
    "approach": "approach",
    "instead": "instead",
    "constraint": "constraint",
    "stale_when": "stale-when",
    "expires_when": "expires-when",
    "revisit_after": "revisit-after",
}
SCISSORS = "# ------------------------ >8 ------------------------"
_HELP = """
# What stands above this line takes the place of the proposal, as your own.
# First what has a name, a line each (leave it empty to take it away), then a blank line, then the reason.
# Leave everything as it is to ratify it as it stands; empty the reason to go back: nothing is written then.
"""


def text_of(event: Mapping[str, Any]) -> str:
    """Return the text that an editor is given for an event in the JSON of `presenters`."""
    heads = "".join(
        f"{label}: {' '.join((event[field] or '').split())}".rstrip() + "\n" for field, label in HEADS.items()
    )
    return f"{heads}\n{event['reasoning']}\n\n{SCISSORS}{_HELP}"


def changes(event: Mapping[str, Any], text: str) -> dict[str, str] | None:
    """Return the fields that an edited text says otherwise than the event; None where the reason is empty.

    Raises Usage for a line at the head that is none.
    """
    text = text.replace("\r\n", "\n").partition(SCISSORS)[0]
    head, _, rest = text.lstrip("\n").partition("\n\n")
    labels = {label: field for field, label in HEADS.items()}
    said = {"reasoning": rest.strip()}
    for line in head.splitlines():
        label, colon, value = line.partition(":")
        field = labels.get(label.strip().lower())
        if not colon or field is None:
            raise Usage(
                what=f"`{line[:60]}` is none of {', '.join(labels)}; nothing was written",
                hint="a blank line parts what has a name from the reason.",
            )
        said[field] = value.strip()
    if not said["reasoning"]:
        return None
    was = {field: " ".join((event[field] or "").split()) for field in HEADS} | {"reasoning": event["reasoning"].strip()}
    return {field: value for field, value in said.items() if value != was[field]}


def edited(text: str, folder: str) -> str | None:
    """Return what the person makes of `text` in the editor that git would start; None where it failed.

    Ctrl-C is the editor's meanwhile, as with git.
    """
    import signal
    import subprocess

    editor = git.ask("var", "GIT_EDITOR")
    if not editor:
        raise Usage(what="no editor is set", hint="`git config core.editor NAME` sets one.")
    path = os.path.join(folder, "DECISION_EDITMSG")
    os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = subprocess.run(["sh", "-c", f'{editor} "$@"', editor, path]).returncode
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read() if code == 0 else None
    except OSError:
        return None
    finally:
        signal.signal(signal.SIGINT, before)
        try:
            os.unlink(path)
        except OSError:
            pass
