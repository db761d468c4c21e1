"""What the command line itself asks git: which pager, whether colours, what a date or a diff is.

Never on the way of an everyday command whose output is not a terminal. `subprocess` is imported at the
first question.
"""

from __future__ import annotations

from gitmem.errors import GitFailed


def ask(*args: str) -> str | None:
    """Return what `git ARGS` says, without the line feed at its end, or None where it fails."""
    import subprocess

    try:
        done = subprocess.run(["git", *args], stdin=subprocess.DEVNULL, capture_output=True)
    except OSError:
        return None
    return None if done.returncode else done.stdout.decode("utf-8", "replace").removesuffix("\n")


def pager() -> str:
    """Return the command that shows long output, by git's own order; "" where none is wanted."""
    command = ask("var", "GIT_PAGER")
    return "" if command in (None, "", "cat") else str(command)


def wants_colour() -> bool:
    """Say whether a terminal is to be coloured, by `color.decisions`, else by `color.ui`."""
    return ask("config", "--get-colorbool", "color.decisions", "true") != "false"


def epoch(text: str) -> int | None:
    """Return the seconds since 1970 that git's date parser makes of `text`, or None."""
    answer = ask("rev-parse", f"--since={text}") or ""
    seconds = answer.removeprefix("--max-age=")
    return int(seconds) if seconds.lstrip("-").isdigit() else None


def is_revision(text: str) -> bool:
    """Say whether `text` names a commit, or a range `A..B` of two."""
    ends = text.replace("...", "..").split("..")
    return len(ends) <= 2 and all(
        ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{end or 'HEAD'}^{{commit}}") is not None
        for end in ends
    )


def diff(what: str) -> str:
    """Return the diff of the index (`staged`), of a commit, or of a range. Raises GitFailed."""
    plain = ("--no-color", "--no-ext-diff", "--no-textconv")
    if what == "staged":
        text = ask("diff", "--cached", *plain)
    elif ".." in what:
        text = ask("diff", *plain, "--end-of-options", what)
    else:
        text = ask("show", "--format=", *plain, "--end-of-options", what)
    if text is None:
        raise GitFailed(what=f"no diff for {what}; nothing was written.")
    return text
