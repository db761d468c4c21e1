"""Every deliberate error: what happened, what to do next, and the exit status.

The docstring of a class is its message, a template over the fields that the raiser gives.
`hint` is a template too, and says what to do now. `code` is the exit status of the command;
a number means one situation for ever and is never given to another (`docs/reference/errors.md` is
generated from here, and a test walks the classes). Front ends catch `GitmemError` in one place.

    0        success                     10-19   the situation: nothing here, busy, not allowed
    1        a negative answer           20-29   the data: malformed, broken, newer, incomplete
    2        usage                       30-39   git and the network
    3        a bug                       130     Ctrl-C
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class GitmemError(Exception):
    """Something went wrong."""

    code = 3
    hint = ""
    #: False where the class promises that nothing was written before it was raised; None where nobody knows.
    written: bool | None = False

    def __init__(self, **fields: object) -> None:
        self.fields = fields
        super().__init__(self.message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self.fields)  # by its fields, not its sentence: it may come out of another process

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def message(self) -> str:
        """The sentence for the user; `fields["message"]` replaces the template where a case needs its own."""
        own = self.fields.get("message")
        return str(own) if own is not None else _fill(type(self).__doc__ or "", self.fields)

    @property
    def advice(self) -> str:
        """What to do next, or an empty string."""
        own = self.fields.get("hint")
        return str(own) if own is not None else _fill(self.hint, self.fields)


def _made(kind: type[GitmemError], fields: dict[str, object]) -> GitmemError:
    return kind(**fields)


class _Known(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return ""


def _fill(template: str, fields: dict[str, object]) -> str:
    return " ".join(template.format_map(_Known(fields)).split())


# --- 1, 2: answers and usage -----------------------------------------------------------------


class Negative(GitmemError):
    """{what}"""

    code = 1


class Usage(GitmemError):
    """{what}"""

    code = 2
    hint = "`git decisions {command} -h` shows what it takes."


# --- 10-19: the situation --------------------------------------------------------------------


class NoLog(GitmemError):
    """this repository has no decision log yet."""

    code = 10
    hint = "`git decisions init` starts one; so does the first `git decisions record`."


class LogBusy(GitmemError):
    """the log is busy: {attempts} tries to append lost against other writers; nothing was written."""

    code = 11
    hint = "try again in a moment.{lock}"


class UnknownId(GitmemError):
    """no event has the id {id}; nothing was written."""

    code = 12
    hint = "`git decisions log` lists ids; any unique prefix of 4 or more characters will do."


class AmbiguousId(GitmemError):
    """{id} fits {count} events: {candidates}; nothing was written."""

    code = 13
    hint = "give one more character."


class RuleViolation(GitmemError):
    """{what}; nothing was written."""

    code = 14


class Refused(GitmemError):
    """{field}: {what}; nothing was written."""

    code = 15


class OutsideRepository(GitmemError):
    """{where} is not inside a git repository; gitmem keeps no store outside one."""

    code = 16
    hint = "change into a repository, or make one with `git init`."


class MissingExtra(GitmemError):
    """{what} needs the extra `{extra}`, which isn't installed here; nothing was written."""

    code = 17
    hint = "install it beside gitmem: `pip install 'git-decisions[{extra}]'`."


# --- 20-29: the data -------------------------------------------------------------------------


class MalformedEvent(GitmemError):
    """{id} can't be read: {what}; nothing was written."""

    code = 20
    hint = (
        "a person takes it out or lets it be: `git decisions redact {id} -r WHY`, `git decisions ratify {id} -r WHY`."
    )


class BrokenHistory(GitmemError):
    """the log is broken at {place}: {what}"""

    code = 21
    hint = "`git decisions verify` lists all damage; the ref's reflog or another clone may hold a sound tip."


class NewerFormat(GitmemError):
    """this needs a newer gitmem: {what}"""

    code = 22
    hint = "upgrade with the tool that installed git-decisions."


class Incomplete(GitmemError):
    """the log is incomplete here: {what}"""

    code = 23
    hint = "fetch it in full: `git fetch --unshallow` or `git fetch --refetch --no-filter`."


# --- 30-39: git and the network --------------------------------------------------------------


class GitFailed(GitmemError):
    """git failed: {what}"""

    code = 30


class RemoteRewound(GitmemError):
    """the log of {remote} was rewound: {what}; nothing was changed."""

    code = 31


class RemoteRefused(GitmemError):
    """{remote} does not take the log: {what}; it is safe here."""

    code = 32


class SigningFailed(GitmemError):
    """it can't be signed: {what}; nothing was written."""

    code = 35


class Interrupted(GitmemError):
    """interrupted; {what}."""

    code = 130


# --- what was written before -----------------------------------------------------------------


class Writing:
    """`with Writing():` is around each step that a user would call a write: a ref moves, a setting, a file.

    What is known of all steps of this process is what can be said by an error that comes at any moment, between two
    of several appends or in the middle of one.

    begun, done   steps; one that failed counts as neither
    events        that were appended to the log
    """

    begun = done = events = 0

    def __enter__(self) -> None:
        Writing.begun += 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            Writing.done += 1
        elif issubclass(kind, Exception):
            Writing.begun -= 1

    @classmethod
    def forget(cls) -> None:
        """Begin to count anew."""
        cls.begun = cls.done = cls.events = 0

    @classmethod
    def before(cls) -> str:
        """Return what was written until now, as a sentence without its end; empty for nothing."""
        if cls.events:
            if cls.events == 1:
                return "1 event was appended before that, and stays"
            return f"{cls.events:,} events were appended before that, and stay"
        return "what was done before that stays" if cls.done else ""


def interrupted() -> Interrupted:
    """Return the error for a Ctrl-C, with what is known of what was written."""
    before = Writing.before()
    if Writing.begun > Writing.done:
        what = "the step that it was at may be done or not"
        error = Interrupted(what=f"{what}; {before}" if before else what, hint=_GO_ON)
        error.written = True if before else None
    else:
        error = Interrupted(what=before or "nothing was written", hint=_GO_ON if before else "")
        error.written = bool(before)
    return error


_GO_ON = (
    "`git decisions log -n 5` shows what is in the log; an import, a sync, a setup or a redaction is finished by "
    "calling it again."
)
