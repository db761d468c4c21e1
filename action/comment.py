"""Keeps one comment on a pull request up to date: the one that begins with our marker, made where there is none.

    comment.py FILE

GITHUB_API_URL, GITHUB_REPOSITORY, NUMBER and TOKEN say where and who. A pull request from a fork has a token that may
not comment; then the summary has to do, and the check is not failed for it. Needs Python and nothing else.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

PAGES_MAX, TIMEOUT_S = 30, 20


def asked(method: str, url: str, body: object = None) -> object:
    request = urllib.request.Request(
        url,
        data=None if body is None else json.dumps(body).encode(),
        method=method,
        headers={
            "Authorization": f"Bearer {os.environ.get('TOKEN', '')}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "User-Agent": "git-decisions",
        },
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        return json.loads(answer.read() or b"null")


def is_ours(author: dict) -> bool:
    """Somebody who quotes our marker has written a comment of their own; a bot's is ours, and whoever's token it is."""
    if author.get("type") == "Bot":
        return True
    try:
        me = asked("GET", f"{os.environ['GITHUB_API_URL']}/user")
    except urllib.error.HTTPError:
        return False  # the token of a workflow is nobody's
    return isinstance(me, dict) and me.get("login") is not None and me.get("login") == author.get("login")


def main(path: Path) -> None:
    body = path.read_text("utf-8")
    marker = body.partition("\n")[0]
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}"
    comments = f"{repository}/issues/{int(os.environ['NUMBER'])}/comments"
    for page in range(1, PAGES_MAX + 1):
        found = asked("GET", f"{comments}?per_page=100&page={page}")
        assert isinstance(found, list)
        for one in found:
            if str(one.get("body", "")).startswith(marker) and is_ours(one.get("user", {})):
                if one["body"].replace("\r\n", "\n").strip() != body.strip():
                    asked("PATCH", f"{repository}/issues/comments/{one['id']}", {"body": body})
                return
        if len(found) < 100:
            break
    asked("POST", comments, {"body": body})


if __name__ == "__main__":
    if not Path(sys.argv[1]).is_file():
        sys.exit(0)  # the check ended before there was anything to say; it has said so itself
    try:
        main(Path(sys.argv[1]))
    except (urllib.error.URLError, TimeoutError) as error:
        print(f"::notice title=gitmem::no comment could be written ({error}); the summary has the same")
