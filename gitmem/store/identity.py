"""Who writes: git's author identity now, cleaned once.

Inside a git hook GIT_AUTHOR_* name the author of the commit that is being made (`git commit --author`),
who may be somebody else. There the variables don't count; the committer's, which git never sets, do.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.core.events import clean_author
from gitmem.errors import GitFailed
from gitmem.store import git
from gitmem.store.channel import in_hook
from gitmem.store.repository import Repository

_AUTHOR = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL")


def begin(repository: Repository, environ: Mapping[str, str]) -> git.Process | None:
    """Ask git who writes, and go on; hand what comes back to `author`. None where it takes more than one question."""
    if in_hook(environ):
        return None
    return repository.begin_git("var", "GIT_AUTHOR_IDENT", env=_named(environ))


def _named(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in _AUTHOR if name in environ}


def author(repository: Repository, environ: Mapping[str, str] | None = None, asked: git.Process | None = None) -> str:
    """Return `Name <address>` of whoever writes now, as every commit header of the log spells it.

    `environ` is the writer's environment (default: the one that the repository was found with), `asked` what
    `begin` started. Raises
    GitFailed where git knows no identity.
    """
    if environ is None:
        environ = repository.environ
    if in_hook(environ):
        tries: tuple[tuple[str, dict[str, str]], ...] = (("GIT_AUTHOR_IDENT", {}), ("GIT_COMMITTER_IDENT", {}))
    else:
        tries = (("GIT_AUTHOR_IDENT", _named(environ)),)
    for variable, env in tries:
        result = asked.communicate() if asked else repository.try_git("var", variable, env=env)
        if result.rc == 0:
            # "Name <address> 1796044032 +0000"
            return clean_author(result.out.decode("utf-8", "replace").strip().rsplit(" ", 2)[0])
    raise GitFailed(
        what=f"git does not know who you are ({_reason(result.err)}); nothing was written",
        hint="`git config user.name NAME` and `git config user.email ADDRESS` tell it.",
        rc=result.rc,
        stderr=result.err,
    )


def _reason(err: bytes) -> str:
    return git.first_line(err) or "no name or address is configured"
