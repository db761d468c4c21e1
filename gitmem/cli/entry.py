"""Where the command line begins and where every error ends.

An invocation becomes a `Call`: the name of a plain function and its keyword arguments. Two readers make
one. `understood` is a small parser over a table that is generated from the Typer definitions; it answers
the everyday commands and only where it understands the whole command line. Anything else, and so every
help text and every usage error, is read by Typer, which costs more than most answers do. Then the same
function is called with the same arguments, whoever read them.
"""

from __future__ import annotations

import os
import sys

from gitmem.cli.call import Call, perform
from gitmem.cli.hot_table import HOT
from gitmem.cli.terminal import Io
from gitmem.cli.text import visible
from gitmem.errors import GitFailed, GitmemError, Refused, Writing, interrupted

#: What the shell sees of a process that SIGPIPE ended; git ends so when `head` has seen enough.
BROKEN_PIPE = 141
BUG = 3


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv` and return its exit status; without it that of the process, which ends here.

    Ends at once: all is written, flushed and closed by then, and taking the interpreter apart would cost a
    tenth of the whole command (2.6 of 26 ms, measured). Not under a profiler or `-X dev`, which want to see it.
    """
    if argv is not None:
        return run(argv)
    code = run(sys.argv[1:])
    if not (sys.flags.dev_mode or sys.getprofile() or sys.gettrace()):
        os._exit(code)
    return code


def run(argv: list[str]) -> int:
    """Run one command line and return its exit status; nothing is raised, and nothing is left in a buffer."""
    io = Io.standard()
    Writing.forget()
    try:
        try:
            code = _run(argv, io)
        finally:
            paged = io.is_paged
            io.close()
        return code
    except BaseException as error:  # the one place; SystemExit of a library would be a bug as well
        if isinstance(error, BrokenPipeError) and (paged or _reader_is_gone(io)):
            _point_at_nothing(io)
            return 0 if paged else BROKEN_PIPE  # leaving the pager early is no failure
        return _end(error, argv, io)


def _run(argv: list[str], io: Io) -> int:
    argv = _decoded(argv)
    call = understood(argv)
    if call is None:
        from gitmem.cli.app import read  # Typer

        answer = read(argv, io)
        if isinstance(answer, int):  # a help text was asked for and shown
            return answer
        call = answer
    return perform(call, io)


def understood(argv: list[str]) -> Call | None:
    """Return the call that `argv` means, or None where the hot table doesn't have all of it.

    Knows options with a separate or a `=` value, flags and positionals. Leaves to Typer: other commands,
    unknown and shortened options, `-n5`, clusters of flags, `--`, a value that begins with a dash, a
    number that is none, a positional too many or too few.
    """
    entry = HOT.get(argv[0]) if argv else None
    if entry is None:
        return None
    target, positionals, options, defaults = entry
    values: dict[str, object] = dict(defaults)
    several: dict[str, list[str]] = {}
    words: list[str] = []
    rest = iter(argv[1:])
    for word in rest:
        if word[:1] != "-" or word == "-":
            words.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in options or (equals and name[:2] != "--"):
            return None
        field, kind = options[name]
        if kind == "flag":
            if equals:
                return None
            values[field] = True
            continue
        if not equals:
            value = next(rest, "-?")
            if value[:1] == "-" and value != "-":
                return None
        if kind == "texts":
            several.setdefault(field, []).append(value)
        elif kind == "text":
            values[field] = value
        elif kind == "count" and value.isascii() and value.isdigit() and 0 < len(value) < 10 and int(value):
            values[field] = int(value)  # from 1
        else:
            return None  # a choice, too: Typer knows what there is to choose from
    values |= several
    for field, kind in positionals:
        if kind == "many":
            values[field], words = words, []
            if not values[field]:
                return None
        elif words:
            values[field] = words.pop(0)
        elif kind == "one":
            return None
    return None if words else (target, values)


def _decoded(argv: list[str]) -> list[str]:
    """Return `argv` as the UTF-8 that it was typed in, whatever the locale made of it. Raises Refused."""
    words: list[str] = []
    for word in argv:
        if not word.isascii():
            try:
                # Bytes that are no text in the locale come as lone surrogates. In a locale without UTF-8 all do.
                word = os.fsencode(word).decode("utf-8") if _holds_surrogates(word) else word
            except UnicodeDecodeError:
                field = word.partition("=")[0] if word.startswith("--") else words[-1] if words else ""
                if not field.startswith("-") or not field.isascii():
                    field = "the command line"
                hint = "give text in UTF-8, or a file of it with -F."
                raise Refused(field=field, what="it is not valid UTF-8", hint=hint) from None
        words.append(word)
    return words


def _holds_surrogates(word: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in word)


# --- where errors end ------------------------------------------------------------------------


def _end(error: BaseException, argv: list[str], io: Io) -> int:
    if isinstance(error, KeyboardInterrupt):
        error = interrupted()
    elif isinstance(error, OSError) and _is_of_output(error):
        error = GitFailed(message=f"can't write the output: {error.strerror or error}", written=True)
        _point_at_nothing(io)
    if not isinstance(error, GitmemError):
        return _end_of_bug(error, argv, io)
    # What a class promises is for the append that failed; several may have come before it.
    before = Writing.before() if Writing.events and error.written is False else ""
    if before:
        error.written = True
    try:
        if _wants_json(argv):
            from gitmem import presenters

            io.answer(presenters.error(error))
        else:
            _complain(io, error.message, error.__cause__, error.advice)
            if before:
                io.err.write(f"note: {before}.\n")
        io.out.flush()
        io.err.flush()
    except OSError:
        _point_at_nothing(io)  # nobody is left to be told
    return error.code


def _end_of_bug(error: BaseException, argv: list[str], io: Io) -> int:
    from gitmem.cli.report import report

    message = f"a bug in gitmem: {type(error).__name__}: {error}"
    hint = "please report it with the lines below; they hold none of your text."
    try:
        if _wants_json(argv):
            about = {"code": BUG, "name": "Bug", "message": message, "hint": hint, "written": None}
            io.answer({"schema": 1, "error": about})
        else:
            _complain(io, message, error.__cause__, hint)
        io.err.write(report(error, argv[0] if argv and argv[0].isalpha() else ""))
        io.out.flush()
        io.err.flush()
    except OSError:
        _point_at_nothing(io)
    return BUG


def _complain(io: Io, message: str, cause: BaseException | None, hint: str) -> None:
    red, off = ("\x1b[1;31m", "\x1b[m") if io.err.isatty() and io.colour else ("", "")
    io.err.write(f"{red}error:{off} {visible(message)}\n")
    while cause is not None:
        text = cause.message if isinstance(cause, GitmemError) else str(cause)
        if text:
            io.err.write(f"caused by: {visible(text)}\n")
        cause = cause.__cause__
    if hint:
        io.err.write(f"hint: {visible(hint)}\n")


def _wants_json(argv: list[str]) -> bool:
    options = argv[: argv.index("--")] if "--" in argv else argv
    pairs = zip(options, options[1:])
    return "--json" in options or "--format=json" in options or ("--format", "json") in pairs


def _is_of_output(error: OSError) -> bool:
    # A write to a stream names no file; everything else that we open does.
    import errno

    return error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT, errno.EFBIG)


def _reader_is_gone(io: Io) -> bool:
    """Say whether it is our own output that nobody reads, and not the input of a program that we started."""
    import select

    poll = select.poll()
    for stream in (io.out, io.err):
        try:
            poll.register(stream.fileno(), 0)
        except (OSError, ValueError):
            continue
    return any(state & (select.POLLERR | select.POLLHUP) for _, state in poll.poll(0))


def _point_at_nothing(io: Io) -> None:
    """Let what is still buffered go nowhere: the interpreter flushes once more when it ends, and would complain."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, io.out.fileno())
    except (OSError, ValueError):
        pass
