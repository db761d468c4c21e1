"""Writes summary.md and comment.md: what was checked, what is stopped, and the decisions behind the touched files.

    report.py OUT DECISIONS RANGE STATUS

OUT has what `check` left there. Text of events is somebody's: it is shown as text, and can be neither markup nor a
mention. Needs Python and nothing else.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

MARKER = "<!-- git-decisions -->"
#: So many files are looked up, so many decisions listed; GitHub takes 65,536 characters in a comment.
FILES_MAX, LISTED_MAX, LENGTH_MAX = 200, 40, 60_000
#: What is worth a reader's time first.
WORST = ("contested", "rejected", "reverted", "reopened", "active", "removed")


def text(value: object, most: int = 300) -> str:
    """One line of text that stays text in Markdown: no markup, no mention, no link, no reference to an issue."""
    line = " ".join(str(value or "").split())
    line = line if len(line) <= most else line[: most - 1] + "…"
    line = re.sub(r"([\\`*_{}\[\]()#+!|<>~&@$^=])", lambda found: f"&#{ord(found[1])};", line)
    return line.replace("://", ":&#47;&#47;")


def read(path: Path) -> dict:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def asked(decisions: str, *args: str) -> dict:
    done = subprocess.run([decisions, *args, "--json"], capture_output=True)
    try:
        return json.loads(done.stdout) if done.returncode == 0 else {}
    except ValueError:
        return {}


def touched(over: str) -> list[str]:
    base, _, head = over.partition("..")
    words = ["git", "diff", "--name-only", "-z", "--no-renames", f"{base}...{head.lstrip('.')}"]
    done = subprocess.run(words, capture_output=True)
    return [name for name in done.stdout.decode("utf-8", "replace").split("\0") if name] if not done.returncode else []


def behind(decisions: str, files: list[str]) -> list[dict]:
    """The changes recorded on some files, each once, the worst first and the newest of them."""
    found: dict[str, dict] = {}
    for name in files[:FILES_MAX]:
        for event in asked(decisions, "log", "--path", f":/{name}").get("events", []):
            if event.get("kind") == "change":
                found.setdefault(event["id"], event)
    rank = {verdict: at for at, verdict in enumerate(WORST)}
    newest = sorted(found.values(), key=lambda event: event["recorded_at"], reverse=True)
    return sorted(newest, key=lambda event: rank.get(event.get("verdict") or "", len(WORST)))


def told(event: dict) -> str:
    approach = f", “{text(event['approach'], 80)}”" if event.get("approach") else ""
    instead = f" Instead: {text(event['instead'], 120)}" if event.get("instead") else ""
    standing = ", ".join(filter(None, (event.get("verdict"), event.get("trust"))))
    what = f"**{text(event['entity_path'], 120)}**{approach} ({standing}, `{event['id'][:8]}`)"
    return f"- {what}: {text(event.get('reasoning'))}{instead}"


def main(out: Path, decisions: str, over: str, status: int) -> None:
    gate = read(out / "gate.json")
    verified = (out / "verify").read_text("utf-8", "replace") if (out / "verify").exists() else ""
    errors = verified.count("::error ")
    lines = ["### Decisions", ""]
    lines.append("The log is not sound, or not all here." if errors else "The log was verified." if verified else "")
    findings = gate.get("findings", [])
    for severity, heading in (
        ("error", "Stopped: this brings back what was closed"),
        ("warning", "Proposed here, for a maintainer to decide"),
        ("notice", "Worth knowing"),
    ):
        some = [one for one in findings if one.get("severity") == severity]
        if some:
            lines += ["", f"#### {heading}", ""]
        for one in some[:LISTED_MAX]:
            place = f"`{text(one['path'], 120)}" + (f":{one['line']}`" if one.get("line") else "`")
            lines.append(f"- {place}: {text(one['message'], 500)}")
            if severity == "error":
                lines.append(f"  - To go on: {text(one.get('to_go_on'), 500)}")
            elif one.get("answered_by"):
                by = f"{text(one['answered_by'])} in {text(str(one['commit'])[:10])}"
                lines.append(f"  - {by}: {text(one.get('answer'))}")
    if over and not findings and gate:
        lines += ["", f"Nothing that was rejected comes back in {gate.get('files', 0)} changed files."]
    files = touched(over) if over else []
    events = behind(decisions, files)
    if events:
        lines += ["", f"#### Behind the {len(files)} touched files", ""]
        lines += [told(event) for event in events[:LISTED_MAX]]
        if len(events) > LISTED_MAX:
            lines.append(f"- … and {len(events) - LISTED_MAX} more")
    if len(files) > FILES_MAX:
        lines += ["", f"Only the first {FILES_MAX} of {len(files)} files were looked up."]
    if status:
        lines += ["", "This check failed."]
    body = "\n".join(lines)
    body = body if len(body) <= LENGTH_MAX else body[:LENGTH_MAX].rpartition("\n")[0] + "\n- …"
    (out / "summary.md").write_text(body + "\n", "utf-8")
    (out / "comment.md").write_text(f"{MARKER}\n{body}\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
