"""What the message of a commit says about other commits and about decisions. Statements, to be checked by who asks."""

from __future__ import annotations

import re

#: The trailer that names an event of the log (`init --trailer`).
TRAILER = "Decision-Id"
#: The trailer by which a commit says that a lesson helped it (`Decision-Id` with the id of a lesson says the same).
LESSON = "Lesson"

# A forge that squashes puts the messages of a branch one after the other, and git's own SQUASH_MSG indents them: a
# trailer counts on any line of its own.
_DECISION = re.compile(r"^[ \t]*Decision-Id:[ \t]*(?:[DLR]-)?([0-9a-f]{8,64})[ \t]*$", re.MULTILINE | re.IGNORECASE)
_LESSON = re.compile(r"^[ \t]*Lesson:[ \t]*(?:[LR]-)?([0-9a-f]{8,64})[ \t]*$", re.MULTILINE | re.IGNORECASE)
_PICKED = re.compile(r"^[ \t]*\(cherry picked from commit ([0-9a-f]{40,64})\)[ \t]*$", re.MULTILINE)
# Not where it is indented: what a squashed branch reverted within itself is no revert of the squashed commit.
_REVERTED = re.compile(r"^This reverts commit ([0-9a-f]{7,64})\b", re.MULTILINE)
_SQUASHED = re.compile(r"^commit ([0-9a-f]{40,64})$", re.MULTILINE)
_SQUASH = "Squashed commit of the following:"
_NUMBER = re.compile(r"\(#(\d{1,9})\)$")
_MERGE_REQUEST = re.compile(r"^See merge request \S*!(\d{1,9})$", re.MULTILINE)


class Said:
    """What a message says.

    decisions  beginnings of ids of events that it names as its own
    lessons    beginnings of ids of lessons that it says it used
    picked     commits that it was picked from
    reverted   commits that it takes back; of a short id its beginning
    squashed   commits that it was squashed from
    pull       the number of the pull request that it ends with, or that it is of; 0 for none
    """

    __slots__ = ("decisions", "lessons", "picked", "pull", "reverted", "squashed")

    def __init__(self, message: str) -> None:
        message = message.replace("\r\n", "\n")
        self.decisions = tuple(dict.fromkeys(found.lower() for found in _DECISION.findall(message)))
        self.lessons = tuple(dict.fromkeys(found.lower() for found in _LESSON.findall(message)))
        self.picked = tuple(dict.fromkeys(_PICKED.findall(message)))
        self.reverted = tuple(dict.fromkeys(_REVERTED.findall(message)))
        _, squash, rest = message.partition(_SQUASH)
        self.squashed = tuple(dict.fromkeys(_SQUASHED.findall(rest))) if squash else ()
        number = _NUMBER.search(message.lstrip().partition("\n")[0].rstrip())
        if number is None:
            number = _MERGE_REQUEST.search(message)
        self.pull = int(number.group(1)) if number else 0

    def __bool__(self) -> bool:
        return bool(self.decisions or self.picked or self.reverted or self.squashed)
