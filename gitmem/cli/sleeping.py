"""lessons, rules, history, sleep, undo: ask, then print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitmem import presenters
from gitmem.cli import entries
from gitmem.cli.reading import noted
from gitmem.cli.recording import reason, said
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line, Piece, plural
from gitmem.core.lessons.policies import BANDS
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

    Answer = Mapping[str, Any]

#: So many outcomes of one kind are told; the rest are counted.
TOLD_MAX = 12
_DAY_S = 86_400


def sleep(memory: Memory, io: Io, *, as_of: str | None, policy: str | None, dry_run: bool, as_json: bool) -> int:
    moment = ""
    if as_of is not None:
        from gitmem.cli.dates import instant

        moment = instant(as_of, "--as-of")
    answer = presenters.sleep(memory.sleep(as_of=moment, policy=policy or "", dry_run=dry_run))
    if as_json:
        io.answer(answer)
    else:
        io.show(_slept(answer), paged=True)
    return noted(memory, io)


def lessons(
    memory: Memory,
    io: Io,
    *,
    band: str | None,
    topic: str | None,
    path: str | None,
    limit: int | None,
    all_scopes: bool,
    as_json: bool,
) -> int:
    if band is not None and band not in (*BANDS, "all"):
        raise Usage(what=f"--band: {band[:40]!r} is none of {', '.join(BANDS)}, all", command="lessons")
    answer = presenters.lessons(
        memory.lessons(band=band or "", topic=topic or "", path=path or "", limit=limit, all_scopes=all_scopes)
    )
    if as_json:
        io.answer(answer)
    else:
        io.show(_listed(answer, band, is_narrow=topic is not None or path is not None), paged=True)
    return noted(memory, io)


def rules(memory: Memory, io: Io, *, everything: bool, all_scopes: bool, as_json: bool) -> int:
    answer = presenters.rules(memory.rules(everything=everything, all_scopes=all_scopes))
    if as_json:
        io.answer(answer)
    else:
        io.show(_ruled(answer), paged=True)
    return noted(memory, io)


def history(memory: Memory, io: Io, *, id: str, as_json: bool) -> int:
    answer = presenters.history(memory.history(id))
    if as_json:
        io.answer(answer)
    else:
        io.show(_replayed(answer), paged=True)
    return noted(memory, io)


def undo(
    memory: Memory, io: Io, *, id: str, reasoning: Sequence[str], file: str | None, dry_run: bool, as_json: bool
) -> int:
    return said(io, memory.undo(id, reason(io, reasoning, file, "undo"), dry_run=dry_run), as_json=as_json)


# --- lessons -------------------------------------------------------------------------------------


def _listed(answer: Answer, band: str | None, *, is_narrow: bool) -> Iterator[Line]:
    counts = answer["counts"]
    if not answer["lessons"]:
        where = " here" if is_narrow else ""
        none = f"no lesson{where} is {band}" if band not in (None, "all") else f"no lessons{where}"
        hint = f" ({counts['latent']:,} faded: --band latent)" if band is None and counts["latent"] else ""
        yield Line(("nothing", f"{none}{hint}."))
        return
    for one in answer["lessons"]:
        yield from _lesson(one)
    if answer["left"]:
        yield Line(("dim", f"and {answer['left']:,} more"))
    yield EMPTY
    told = ", ".join(f"{counts[name]:,} {name}" for name in BANDS)
    yield Line(("dim", f"{told}; by {answer['policy'].partition(' ')[0]}"))


def _lesson(one: Answer) -> Iterator[Line]:
    """Yield a lesson in two rows: how near it is and what it is about, then what it says."""
    pieces: list[Piece] = [("id", f"L-{one['id'][: entries.SHORT]}"), ("", " "), (_STYLES[one["band"]], _share(one))]
    pieces += [("", f" {one['band']}")]
    words = [*_words(one)]
    if words:
        pieces.append(("dim", f" · {' · '.join(words)}"))
    yield Line(*pieces, hang=4)
    yield Line(("", "    "), ("", one["gist"] or one["core"] or "[redacted]"), hang=4)


_STYLES = {"near": "active", "cold": "proposed", "latent": "dim"}


def _words(one: Answer) -> Iterator[str]:
    """Yield what else is worth a word of a lesson."""
    if one["times"] > 1:
        yield f"{one['times']:,} times"
    if one["uses"]:
        yield f"used {plural(one['uses'], 'time')}"
    if one["binding"] != "note":
        yield one["binding"]
    if one["outcome"]:
        yield f"outcome {one['outcome']:+d}"
    if one["topic"]:
        yield one["topic"]
    elif one["paths"]:
        yield one["paths"][0] + (f" and {len(one['paths']) - 1} more" if len(one["paths"]) > 1 else "")
    if one["scope"]:
        yield one["scope"]
    if one["trust"] != "ratified":
        yield one["trust"]
    yield from one["marks"]
    yield one["recorded_at"][:10]


def _share(one: Answer) -> str:
    return _ppm(one["access"])


def _ppm(number: int) -> str:
    """Return `.72` of 729,000 ppm, `1.00` of nearly all: cut, so that none seems to be in a higher band."""
    return "1.00" if number >= 995_000 else f".{number // 10_000:02d}"


# --- rules ---------------------------------------------------------------------------------------


def _ruled(answer: Answer) -> Iterator[Line]:
    if not answer["rules"] and not answer["fallen"]:
        yield Line(("nothing", "no rules: nothing has recurred in three commits, or no sleep has looked."))
        return
    for number, one in enumerate([*answer["rules"], *answer["fallen"]]):
        if number:
            yield EMPTY
        yield from rule(one, fell=number >= len(answer["rules"]))


def rule(one: Answer, *, fell: bool = False, is_waiting: bool = False) -> Iterator[Line]:
    """Yield a rule: what it says, what it rests on, what speaks against it; in the queue, without the way on."""
    state = "fallen" if fell else one["trust"]
    of = "rule" if one["rank"] == "principle" else "commit"
    words = [state, plural(one["count"], of)]
    words += [one["topic"]] if one["topic"] else []
    words += [one["scope"]] if one["scope"] else []
    words += [f"rust {_ppm(one['rust'])}"] if one["rust"] >= 10_000 and not fell else []
    pieces: list[Piece] = [("id", f"R-{one['id'][: entries.SHORT]}"), ("", " "), ("entity", one["rank"])]
    yield Line(*pieces, ("dim", f" · {' · '.join(words)}"), hang=4)
    yield Line(("", "    "), ("", one["text"] or "[sealed, or gone]"), hang=4)
    for each in one["evidence"][:TOLD_MAX]:
        mark = "R" if one["rank"] == "principle" else "L"
        day = f" {each['recorded_at'][:10]}" if each["recorded_at"] else ""
        where = _commit(each["commit"])
        yield Line(
            ("", "      "), ("id", f"{mark}-{each['id'][: entries.SHORT]}"), ("dim", f"{day}{where}  "),
            ("", each["text"] or "[sealed, or gone]"), hang=8,
        )  # fmt: skip
    if len(one["evidence"]) > TOLD_MAX:
        yield Line(("dim", f"      and {len(one['evidence']) - TOLD_MAX:,} more"))
    if one["contradicted_by"]:
        several = ", ".join(f"L-{name[: entries.SHORT]}" for name in one["contradicted_by"][:5])
        yield Line(("", "    "), ("contested", f"went the other way: {several}"), hang=6)
    if one["trust"] == "proposed" and one["rank"] != "pattern" and not (fell or is_waiting):
        yield Line(("dim", f"    git decisions ratify R-{one['id'][: entries.SHORT]} -r WHY"))


def _commit(key: str | None) -> str:
    name, _, commit = (key or "").partition(":")
    return f" {commit[: entries.COMMIT]}" if name == "commit" else ""


# --- sleep ---------------------------------------------------------------------------------------


def _slept(answer: Answer) -> Iterator[Line]:
    outcomes = [one for one in answer["outcomes"] if one["action"] != "digest"]
    when = entries.when(answer["moment"])
    after = answer["after"]
    if not outcomes:
        yield Line(("nothing", f"nothing to put in order: {_counted(after)}."))
        return
    would = "would sleep" if answer["dry_run"] else "slept"
    yield Line(("heading", f"{would} as of {when}, by {answer['policy'].partition(' ')[0]}"), hang=4)
    for action in ("absorb", "latent", "return", "promote", "fall"):
        several = [one for one in outcomes if one["action"] == action]
        for one in several[:TOLD_MAX]:
            yield from _outcome(one, action)
        if len(several) > TOLD_MAX:
            yield Line(("dim", f"  and {len(several) - TOLD_MAX:,} more: {_ACTIONS[action]}"))
    yield EMPTY
    yield Line(("", f"{_counted(after)}."), hang=4)
    if any(one["action"] == "promote" and one["becomes"]["rank"] != "pattern" for one in outcomes):
        if not answer["dry_run"]:
            yield Line(("dim", "a person decides on what is proposed: git decisions review"))
    if not answer["dry_run"]:
        yield Line(("dim", "to take one of these back: git decisions undo EVENT -r WHY"))


#: What an outcome is called, where a lesson is told beside it.
_ACTIONS = {
    "absorb": "absorbed",
    "latent": "faded",
    "return": "back",
    "promote": "proposed",
    "fall": "fallen",
}


def _outcome(one: Answer, action: str) -> Iterator[Line]:
    targets = [f"L-{name[: entries.SHORT]}" for name in one["targets"]]
    event: Piece = ("id", (one["event"] or "-" * entries.SHORT)[: entries.SHORT])
    text = one["text"] or ""
    becomes = one["becomes"]
    if action == "absorb":
        under = becomes["under"]
        other = next((name for name in one["targets"] if name != under), under)
        said = f"L-{other[: entries.SHORT]} under L-{under[: entries.SHORT]} ({becomes['alike']}% alike)"
    elif action in ("latent", "return"):
        said = f"{targets[0]} at {_ppm(becomes['access'])}"
    elif action == "promote":
        of = "rule" if becomes["rank"] == "principle" else "commit"
        said = f"a {becomes['rank']} from {plural(becomes['count'], of)}"
    else:
        said = f"{one['was']['rank']} {', '.join(f'R-{name[: entries.SHORT]}' for name in one['targets'])}"
        text = f"{plural(becomes['count'], 'commit')} left" if one["was"]["rank"] != "principle" else ""
    silent = action == "promote" and becomes["rank"] == "pattern"
    word = "noticed" if silent else _ACTIONS[action]
    yield Line(("", "  "), event, ("", f" {word:<9}"), ("entity", said), ("", f"  {text}" if text else ""), hang=21)


def _counted(counts: Answer) -> str:
    lessons = sum(counts[name] for name in BANDS)
    if not lessons and not counts["under"]:
        return "there are no lessons"
    told = ", ".join(f"{counts[name]:,} {name}" for name in BANDS if counts[name])
    parts = [f"{plural(lessons, 'lesson')} ({told})"]
    parts += [f"{counts['under']:,} under others"] if counts["under"] else []
    parts += [plural(counts[rank], rank) for rank in ("pattern", "rule", "principle") if counts[rank]]
    return ", ".join(parts)


# --- history -------------------------------------------------------------------------------------


def _replayed(answer: Answer) -> Iterator[Line]:
    if answer["lesson"]:
        yield from _lesson(answer["lesson"])
        if answer["lesson"]["gist"]:
            yield Line(("", "    "), ("label", "core: "), ("", answer["lesson"]["core"]), hang=6)
    elif answer["rule"]:
        yield from rule(answer["rule"])
    subject = (answer["lesson"] or answer["rule"] or {}).get("id")
    for step in answer["steps"]:
        yield EMPTY
        agent = f" (by {step['agent']})" if step["agent"] else ""
        name = step["author"].partition(" <")[0]
        who = "" if name == "gitmem" else f"  {name}{agent}"
        yield Line(
            ("id", step["event"][: entries.SHORT]), ("", " "), ("dim", entries.when(step["recorded_at"])), ("", "  "),
            ("entity", step["what"]), ("dim", who), hang=4,
        )  # fmt: skip
        about = [name[: entries.SHORT] for name in step["targets"] if name != subject]
        if about and (step["kind"] == "undo" or step["action"] == "absorb"):
            yield Line(("", "    "), ("label", "of: "), ("id", ", ".join(about)))
        if step["commit"]:
            yield Line(("", "    "), ("label", "commit: "), ("commit", step["commit"][: entries.COMMIT]))
        if step["reason"]:
            yield Line(("", "    "), ("", step["reason"]), hang=4)
        for line in _differing(step):
            yield Line(("", "    "), ("label", line[0]), ("", line[1]), hang=6)


#: Names of what differs in a step, as they are told; what isn't here is told by its own name.
_NAMES = {
    "gist": "says",
    "half_life": "half-life",
    "group_access": "with its repeats",
    "is_gone": "gone",
    "topic_key": "topic",
    "contradicted_by": "went the other way",
}
#: Not told: it follows from what is, or is a hash of nothing that a person asks for.
_UNTOLD = ("last", "said", "group_access", "topic_key", "repeats", "direction", "scope")


def _differing(step: Answer) -> Iterator[tuple[str, str]]:
    before, after = step["before"], step["after"]
    for name in {**before, **after}:
        if name in _UNTOLD or (not before and after.get(name) in (False, 0, "", [])):
            continue
        is_new = name not in before
        was, now = _value(name, before.get(name)), _value(name, after.get(name))
        if is_new or was != now:
            yield f"{_NAMES.get(name, name)}: ", now if is_new else f"{was} -> {now}"


def _value(name: str, value: object) -> str:
    if name in ("access", "rust") and isinstance(value, int):
        return _ppm(value)
    if name == "half_life" and isinstance(value, int):
        return f"{value // _DAY_S:,} days"
    if name == "under" and isinstance(value, str):
        return f"L-{value[: entries.SHORT]}" if value else "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        if name in ("evidence", "contradicted_by"):
            return ", ".join(str(one)[: entries.SHORT] for one in value[:6]) or "nothing"
        return ", ".join(map(str, value)) or "none"
    return str(value) if value not in (None, "") else "nothing"
