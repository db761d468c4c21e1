"""inbox, reveal: ask, then print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitmem import presenters
from gitmem.cli.entries import SHORT, day
from gitmem.cli.recording import said
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line, labelled, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory


def inbox(memory: Memory, io: Io, *, keep: Sequence[str], drop: Sequence[str], as_json: bool) -> int:
    result = memory.inbox(keep=keep, drop=drop)
    answer: dict[str, Any] = presenters.inbox(result)
    if as_json:
        io.answer(answer)
        return 0
    for recorded in result.recorded:
        said(io, recorded, as_json=False)
    for item in answer["dropped"]:
        io.show([Line(("", "dropped "), ("id", item[:SHORT]))])
    if not keep and not drop:
        io.show(_waiting(answer), paged=True)
    return 0


def _waiting(answer: Mapping[str, Any]) -> Iterator[Line]:
    waiting = answer["waiting"]
    if not waiting:
        yield Line(("nothing", "the inbox is empty: no hook saw anything that waits to be kept."))
        return
    yield Line(("heading", f"{plural(len(waiting), 'capture')} in the inbox of this clone"))
    policy = answer["policy"].partition(" ")[0]
    yield Line(("", f"At a commit, what reaches {answer['bar']} points becomes a lesson ({policy})."))
    for item in waiting:
        yield EMPTY
        yield from _weighed(item)


def _weighed(item: Mapping[str, Any]) -> Iterator[Line]:
    score = item["score"]
    yield Line(
        ("", "["),
        ("warning" if score["passes"] else "", f"{score['total']} of {score['bar']}"),
        ("", f" · {item['told']} · "),
        ("id", item["id"][:SHORT]),
        ("", "] "),
        ("", item["core"]),
        hang=4,
    )
    wide = max(len(part["name"]) for part in score["parts"])
    for part in score["parts"]:
        sign = "−" if part["weight"] < 0 else "+"
        told = f"{part['value']:3} × {abs(part['weight']):2} %  {sign}{abs(part['points'])}"
        yield Line(("", "    "), ("label", f"{part['name']:{wide}}"), ("", f"  {told}"))
    if item["repeats"]:
        yield from labelled("says again", f"L-{item['repeats'][:SHORT]}", style="id")
    if item["is_gone"]:
        yield from labelled("says again", "a lesson that was taken back; it is dropped at the next commit")
    if item["paths"]:
        yield from labelled("where", ", ".join(item["paths"]))
    if item["evidence"]:
        yield from labelled("seen in", ", ".join(item["evidence"]))
    often = "once" if item["times"] == 1 else f"{item['times']} times"
    yield from labelled("seen", f"{often}, last on {day(item['last'])}; forgotten on {day(item['expires'])}")


def reveal(memory: Memory, io: Io, *, path: str, as_json: bool) -> int:
    answer = presenters.reveal(memory.reveal(path))
    if as_json:
        io.answer(answer)
    else:
        io.show(_faded(answer), paged=True)
    return 0


def _faded(answer: Mapping[str, Any]) -> Iterator[Line]:
    lessons = answer["lessons"]
    if not lessons:
        yield Line(("nothing", f"no lesson has faded around {answer['path']}."))
        return
    yield Line(
        ("heading", f"{plural(len(lessons), 'faded lesson')} around "),
        ("entity", answer["path"]),
        ("heading", f": caution +{answer['caution']}" if answer["caution"] else ""),
    )
    for lesson in lessons:
        yield EMPTY
        yield Line(
            ("", f"[faded · +{lesson['points']} · "),
            ("id", f"L-{lesson['id'][:SHORT]}"),
            ("", f"] {lesson['core']}"),
            hang=4,
        )
        if lesson["paths"]:
            yield from labelled("where", ", ".join(lesson["paths"]))
        often = "" if lesson["times"] == 1 else f", {lesson['times']} times"
        yield from labelled("last of use", f"{day(lesson['last'])}{often}")
        yield from labelled(
            "left", f"{lesson['access_percent']} % of what it was; severity {lesson['severity']}, {lesson['trust']}"
        )
        if lesson["touches"]:
            yield from labelled("touched", "once since: used on another occasion, it is back")
