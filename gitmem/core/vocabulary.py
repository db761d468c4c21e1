"""The closed words of the format, as data. Everything that decides by a word asks here.

An unknown word in an event makes the event *newer*: kept, counted, shown, and without effect (R12).
"""

from __future__ import annotations

#: The format this gitmem writes and reads whole. A higher one is *newer*.
VERSION = 1

# change_type -> its class, which is what the rules read
OPENING, CLOSING, ENDING, NEUTRAL, SUPERSEDING = "opening", "closing", "ending", "neutral", "superseding"
CHANGE_TYPES = {
    "add": OPENING,
    "create": OPENING,
    "modify": OPENING,
    "index_add": OPENING,
    "migrate": OPENING,
    "revert": CLOSING,
    "reject": CLOSING,
    "remove": ENDING,
    "delete": ENDING,
    "index_remove": ENDING,
    "rename": NEUTRAL,
    "retype": NEUTRAL,
    "supersede": SUPERSEDING,
}

REVIEW_ACTIONS = ("ratify", "dispute", "retract", "resolve")
MARK_ACTIONS = ("seal", "unseal", "pin", "unpin", "mute", "unmute")
LINK_HOWS = ("head", "post-commit", "amend", "rebase", "squash", "cherry-pick", "trailer", "import", "revert")
#: ... and of these the ones by which an event belongs to the commit: a revert took its commit back.
LINK_HOWS_PLACING = LINK_HOWS[:-1]
CHANNELS = ("human", "agent", "hook", "import", "ci", "script")
BASES = ("person", "evidence", "none")
#: How sure a link is: the change is the same; its lines are, in other surroundings; a message says so.
CONFIDENCES = ("exact", "lines", "stated")
EFFECTS_WRITTEN = ("now", "when-ratified")
REDACTION_MODES = ("plain", "approach", "entity")
#: What fades (`core/lessons`): how a lesson was used, what a sleep found, how far a lesson binds.
USE_HOWS = ("commit", "applied")
SLEEP_ACTIONS = ("absorb", "latent", "return", "promote", "fall", "digest")
#: The kinds of what an undo can take back.
UNDOABLE = ("sleep", "gist", "use", "undo")
BINDINGS = ("note", "practice", "policy")
KINDS = ("change", "link", "review", "mark", "override", "redact", "lesson", "gist", "use", "sleep", "undo")
#: These tie no events together: what is in a commit, what was used together, what one sleep found.
KINDS_LOOSE = ("link", "use", "sleep")

VERDICTS = ("contested", "rejected", "reverted", "reopened", "active", "removed")  # worst first
TRUSTS = ("proposed", "ratified", "disputed", "retracted")
EFFECTS = ("applied", "pending", "contested", "void")

ENTITY_TYPES = (
    "column",
    "table",
    "file",
    "function",
    "class",
    "endpoint",
    "dependency",
    "env_var",
    "index",
    "schema",
    "config",
    "other",
)
