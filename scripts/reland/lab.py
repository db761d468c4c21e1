"""Cases made of a clone's own verdicts: re-landings in disguise, edits that are none, and controls that must fail.

What is right was written down before anything was run: `MUTATIONS` and `NEGATIVES`. Each negative has its positive twin
in the same store: the plain re-landing, which must be stopped just before or after.
"""

from __future__ import annotations

import difflib
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from gitmem.cases import gating
from gitmem.core import fingerprint
from gitmem.core.drafts import Draft, Writer
from gitmem.memory import Memory

from .history import Clone
from .mining import Verdict
from .replay import Asked, ask, new_repository

STOP, NOTE, PASS, AT_MOST_NOTE = "stop", "note", "pass", "at most a note"

#: What happens to the lines on their way back -> what the gate has to do.
MUTATIONS = {
    "as it was": STOP,
    "re-indented": STOP,
    "one identifier renamed": STOP,
    "lines reordered": STOP,
    "comments added": STOP,
    "path renamed": STOP,
    "80 % of it": STOP,
    "60 % of it": STOP,
    "40 % of it": NOTE,
    "split over two commits": NOTE,
}
NEGATIVES = {
    "N1 a later edit of the file, under 30 % of it": PASS,
    "N2 a different fix in the same place": PASS,
    "N3 the same words in another file": PASS,
    "N4 the same bytes after a supersede": PASS,
    "N5 the same content in another scope": PASS,
    "N6 the verdict retracted": PASS,
    "N6 the verdict sealed": PASS,
    "N6 the verdict redacted": PASS,
    "N7 proposed only, shown in this session": PASS,
    "N8 boilerplate that many files share": PASS,
    "N9 the edit before the verdict": PASS,
    "N10 an unrelated file": PASS,
}
CONTROLS = ("an empty store", "the gate off", "fingerprints shuffled", "one verdict deleted")
#: A verdict of fewer distinctive lines has no 40 % to speak of.
LINES_MIN = 10

BOILERPLATE = "\n".join(
    [
        "# Copyright (c) the authors",
        "import os",
        "import sys",
        "",
        "if __name__ == '__main__':",
        "    main()",
        "}",
        "});",
    ]
)


class Case:
    """A verdict with the file as it was once the revert was made (`without`), and before (`whole`)."""

    def __init__(self, verdict: Verdict, acts: list[Draft], without: str, whole: str) -> None:
        self.verdict = verdict
        self.acts = acts
        self.without = without.split("\n")
        self.whole = whole.split("\n")

    def edited(self, change: Callable[[list[str]], list[str]]) -> str:
        """Return the file with the lines that came back put through `change`, all in one."""
        blocks = [
            (at, self.whole[begin:end])
            for tag, at, _, begin, end in difflib.SequenceMatcher(
                None, self.without, self.whole, autojunk=False
            ).get_opcodes()
            if tag in ("insert", "replace")
        ]
        lines = [line for _, block in blocks for line in block]
        changed = change(list(lines))
        out = list(self.without)
        shift = 0
        for number, (at, block) in enumerate(blocks):
            part = changed if number == len(blocks) - 1 else changed[: len(block)]
            changed = changed[len(part) :]
            out[at + shift : at + shift] = part
            shift += len(part)
        return "\n".join(out)

    @property
    def lines(self) -> list[str]:
        """The distinctive lines that the revert took back, as they stand in the file."""
        mine = self.verdict.lines
        return [line for line in self.whole if fingerprint.marks([line]) & mine]


def cases(clone: Clone, verdicts: Sequence[Verdict], acts: dict[str, list[Draft]], most: int) -> list[Case]:
    """Return the newest verdicts that have enough lines, with their texts."""
    found = []
    for verdict in reversed(verdicts):
        if len(verdict.lines) < LINES_MIN or len(found) >= most:
            continue
        names = clone.git("diff-tree", "-r", "--no-commit-id", "--raw", "--no-abbrev", "-z", verdict.oid).split(b"\0")
        blobs = {path.decode("utf-8", "replace"): head.split() for head, path in zip(names[::2], names[1::2])}
        if verdict.path not in blobs:
            continue
        whole_id, without_id = (blobs[verdict.path][at].decode() for at in (2, 3))
        whole = clone.text(whole_id)
        without = clone.text(without_id) if without_id.strip("0") else ""
        if whole is None or without is None:
            continue
        mine = [draft for draft in acts[verdict.oid] if draft.fields["entity_path"] == verdict.path]
        found.append(Case(verdict, mine, without, whole))
    return found


class Lab:
    """A scratch log with all cases in it, and one for each case that changes what the log says."""

    def __init__(self, place: Path, found: Sequence[Case]) -> None:
        self._place = place
        self.cases = found
        self._number = 0
        self.results: dict[str, Counter[str]] = {}
        self.failed: list[str] = []

    def store(self, found: Sequence[Case], *, shuffled: bool = False) -> Path:
        """Return a new scratch repository whose log has the verdicts of `found`."""
        self._number += 1
        tree = new_repository(self._place / f"lab{self._number}")
        drafts = [draft for case in found for draft in case.acts]
        if shuffled:
            prints = [draft.fields.get("fingerprint") for draft in drafts]
            held = [at for at, one in enumerate(prints) if one]
            moved = {at: prints[held[(n + 1) % len(held)]] for n, at in enumerate(held)}
            drafts = [
                draft.with_fields({**draft.fields, "fingerprint": moved[at]}) if at in moved else draft
                for at, draft in enumerate(drafts)
            ]
        if drafts:
            memory = Memory.open(str(tree), environ={})
            memory.append_history(drafts)
            memory.close()
        return tree

    def run(self) -> None:
        if not self.cases:
            return
        tree = self.store(self.cases)
        for number, case in enumerate(self.cases):
            self._mutations(tree, case, number)
            self._still_there(tree, case, number)
            self._changed_logs(case, number)
        shutil.rmtree(tree, ignore_errors=True)

    def _tell(self, name: str, wanted: str, asked: Asked) -> None:
        got = STOP if asked.stopped else NOTE if asked.noted else PASS
        right = got == wanted or (wanted == PASS and got == NOTE) or (wanted == AT_MOST_NOTE and got != STOP)
        self.results.setdefault(name, Counter())["right" if right else f"wrong: {got}"] += 1
        if not right:
            self.failed.append(f"{name}: {got}")

    def _none(self, name: str) -> None:
        self.results.setdefault(name, Counter())["unexercised"] += 1

    def _mutations(self, tree: Path, case: Case, number: int) -> None:
        without, path = "\n".join(case.without), case.verdict.path
        for name, wanted in MUTATIONS.items():
            session = f"mutation {number} {name}"
            if name == "path renamed":
                text, to = "\n".join(case.whole), f"moved/{path}"
                self._tell(name, wanted, ask(tree, session, to, None, text))
                continue
            changed = mutated(case, name)
            if changed is None:
                self._none(name)
            else:
                self._tell(name, wanted, ask(tree, session, path, without, changed))

    def _still_there(self, tree: Path, case: Case, number: int) -> None:
        """Negatives that ask the same store."""
        without, path = "\n".join(case.without), case.verdict.path
        share = case.lines[: len(case.lines) * 25 // 100]
        few = case.edited(lambda lines: [line for line in lines if line in share])
        tried = {
            "N1 a later edit of the file, under 30 % of it": (path, without, few),
            "N2 a different fix in the same place": (path, without, case.edited(_other_fix)),
            "N3 the same words in another file": ("notes/words.txt", "", _words_only(case)),
            "N8 boilerplate that many files share": ("src/new_module.py", "", BOILERPLATE),
            "N10 an unrelated file": (
                "docs/other.md",
                "One line.\n",
                "One line.\nAnother one, about something else.\n",
            ),
        }
        for name, (where, before, after) in tried.items():
            self._tell(name, NEGATIVES[name], ask(tree, f"negative {number} {name}", where, before, after))

    def _changed_logs(self, case: Case, number: int) -> None:
        """Negatives that need a log of their own, each beside its positive twin."""
        path, without, whole = case.verdict.path, "\n".join(case.without), "\n".join(case.whole)

        def twin(tree: Path, name: str) -> bool:
            asked = ask(tree, f"twin {number} {name}", path, without, whole)
            self.results.setdefault(f"{name[:2].strip()} twin", Counter())["right" if asked.stopped else "wrong"] += 1
            return asked.stopped

        for name, act in _ACTS.items():
            tree = self.store([case])
            twin(tree, name)
            memory = Memory.open(str(tree), environ={})
            event = memory.desk.cache().id_of_source(str(case.verdict.draft.fields["source"]))
            memory.desk._writer = Writer("Ada <ada@example.org>", "human", tool="bench")
            act(memory, event, case)
            memory.close()
            self._tell(name, NEGATIVES[name], ask(tree, f"{number} {name}", path, without, whole))
            shutil.rmtree(tree, ignore_errors=True)
        name = "N7 proposed only, shown in this session"
        tree = self.store([case])
        first = ask(tree, f"{number} {name}", path, without, whole)
        self.results.setdefault("N7 twin", Counter())["right" if first.stopped else "wrong"] += 1
        self._tell(name, NEGATIVES[name], ask(tree, f"{number} {name}", path, without, whole))
        shutil.rmtree(tree, ignore_errors=True)
        name = "N9 the edit before the verdict"
        tree = self.store([])
        self._tell(name, NEGATIVES[name], ask(tree, f"{number} {name}", path, without, whole))
        shutil.rmtree(tree, ignore_errors=True)
        name = "N5 the same content in another scope"
        tree = self.store([])
        (tree / ".decisions.toml").write_text('[components]\none = ["one"]\ntwo = ["two"]\n')
        for part in ("one", "two"):
            (tree / part).mkdir()
        memory = Memory.open(str(tree), environ={})
        drafts = [draft.with_fields({**draft.fields, "entity_path": f"one/{path}"}) for draft in case.acts]
        memory.append_history(drafts)
        memory.close()
        asked = ask(tree, f"twin {number} {name}", f"one/{path}", without, whole)
        self.results.setdefault("N5 twin", Counter())["right" if asked.stopped else "wrong"] += 1
        self._tell(name, NEGATIVES[name], ask(tree, f"{number} {name}", f"two/{path}", without, whole))
        shutil.rmtree(tree, ignore_errors=True)

    def controls(self) -> dict[str, tuple[int, int]]:
        """Return how many plain re-landings are caught by their own verdict where none should be, of how many."""
        found: dict[str, tuple[int, int]] = {}
        if len(self.cases) < 2:
            return found
        stores = {
            "an empty store": self.store([]),
            "fingerprints shuffled": self.store(self.cases, shuffled=True),
        }
        for name, tree in stores.items():
            found[name] = (sum(self._caught(tree, case, name) for case in self.cases), len(self.cases))
        left_out = 0
        for case in self.cases[:5]:
            tree = self.store([other for other in self.cases if other is not case])
            left_out += self._caught(tree, case, "deleted")
            shutil.rmtree(tree, ignore_errors=True)
        found["one verdict deleted"] = (left_out, min(5, len(self.cases)))
        tree = self.store(self.cases)
        finds = gating.Finder.matches  # with the gate off the hook runs all the same, and finds nothing
        gating.Finder.matches = lambda finder, changed: []  # type: ignore[method-assign]
        try:
            found["the gate off"] = (sum(self._caught(tree, case, "off") for case in self.cases), len(self.cases))
        finally:
            gating.Finder.matches = finds  # type: ignore[method-assign]
        return found

    def _caught(self, tree: Path, case: Case, name: str) -> bool:
        memory = Memory.open(str(tree), environ={})
        mine = ""
        if memory.desk.log().tip() is not None:
            mine = memory.desk.cache().id_of_source(str(case.verdict.draft.fields["source"]))
        memory.close()
        asked = ask(
            tree, f"{name} {case.verdict.oid}", case.verdict.path, "\n".join(case.without), "\n".join(case.whole)
        )
        if name == "deleted":
            return asked.stopped and asked.first == case.verdict.event[:8]
        return asked.stopped and (not mine or asked.first == mine[:8])


def _supersede(memory: Memory, event: str, case: Case) -> None:
    fields = {
        "entity_path": case.verdict.path,
        "change_type": "supersede",
        "reasoning": "It is needed after all.",
        "approach": case.verdict.approach,
        "supersedes": [event],
    }
    memory.record(Draft("change", fields))


def _review(action: str) -> Callable[[Memory, str, Case], None]:
    def act(memory: Memory, event: str, case: Case) -> None:
        kind = "mark" if action == "seal" else "review"
        memory.record(Draft(kind, {"action": action, "targets": [event], "reason": "For the bench."}))

    return act


def _redact(memory: Memory, event: str, case: Case) -> None:
    memory.redact(event, "For the bench.")


_ACTS: dict[str, Callable[[Memory, str, Case], None]] = {
    "N4 the same bytes after a supersede": _supersede,
    "N6 the verdict retracted": _review("retract"),
    "N6 the verdict sealed": _review("seal"),
    "N6 the verdict redacted": _redact,
}


def mutated(case: Case, name: str) -> str | None:
    """Return the file with what was taken back, changed as `name` says; None where it can't be told of these lines."""
    mine = case.lines
    match name:
        case "as it was":
            return "\n".join(case.whole)
        case "re-indented":
            return case.edited(lambda lines: [f"\t  {line}" for line in lines])
        case "lines reordered":
            return case.edited(lambda lines: lines[::-1])
        case "comments added":
            return case.edited(
                lambda lines: [part for line in lines for part in (line, "# as it was said before, once")]
            )
        case "one identifier renamed":
            words = Counter(word for line in set(mine) for word in set(re.findall(r"[A-Za-z_]\w{3,}", line)))
            fitting = [word for word, number in words.items() if 0 < number * 100 <= 30 * len(set(mine))]
            if not fitting:
                return None
            word = max(fitting, key=lambda one: (words[one], one))
            return case.edited(lambda lines: [re.sub(rf"\b{word}\b", f"{word}_2", line) for line in lines])
        case "split over two commits":
            kept = set(mine[: len(mine) // 2])
            return case.edited(lambda lines: [line for line in lines if line in kept])
    percent = int(name.split(" ")[0])
    distinct = list(dict.fromkeys(mine))
    kept = set(distinct[: -(-len(distinct) * percent // 100)])
    return case.edited(lambda lines: [line for line in lines if line in kept])


def _other_fix(lines: list[str]) -> list[str]:
    return [f"another_way_{number} = solved(differently={len(line)})" for number, line in enumerate(lines)]


def _words_only(case: Case) -> str:
    words = re.findall(r"[A-Za-z_]\w+", " ".join(case.lines))
    return "\n".join(" ".join(words[at : at + 9]) for at in range(0, len(words), 9))
