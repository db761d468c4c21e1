"""What came of it: shares with a Wilson interval, the table, and whether the run says anything at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt

from .lab import CONTROLS, MUTATIONS, NEGATIVES, Lab
from .replay import BASELINES, Asked, Replay

#: What is asked: re-landings caught at rank 1, in percent, and false stops in 1,000 edits.
EXPLICIT, SILENT, FALSE_POOLED, FALSE_WORST = 95, 85, 2, 5


def wilson(right: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson, "Probable inference", 1927)."""
    if not of:
        return 0.0, 1.0
    share = right / of
    middle = share + z * z / (2 * of)
    width = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (middle - width) / (1 + z * z / of)), min(1.0, (middle + width) / (1 + z * z / of))


def told(right: int, of: int) -> str:
    if not of:
        return "unexercised"
    low, high = wilson(right, of)
    return f"{right}/{of} = {100 * right / of:.1f} % ({100 * low:.1f}-{100 * high:.1f})"


class Row:
    """One clone in counts: rows may be kept, they hold no code."""

    def __init__(self, name: str, replay: Replay, lab: Lab, controls: dict[str, tuple[int, int]]) -> None:
        asked = replay.asked
        self.name = name
        self.edits = replay.edits
        self.asked = len(asked)
        self.verdicts = len(replay.verdicts)
        self.explicit = _caught(asked, explicit=True)
        self.silent = _caught(asked, explicit=False)
        plain = [one for one in asked if not one.back and not one.short]
        self.short = (sum(one.stopped for one in asked if one.short), sum(one.short for one in asked))
        self.false = (sum(one.stopped for one in plain), len(plain))
        self.notes = (sum(one.noted for one in plain), len(plain))
        times = sorted(one.ms for one in asked)
        self.ms = (times[len(times) // 2], times[len(times) * 95 // 100]) if times else (0.0, 0.0)
        self.baselines = {
            name: (
                sum(one.baselines[name] for one in asked if one.back),
                sum(bool(one.back) for one in asked),
                sum(one.baselines[name] for one in plain),
            )
            for name in BASELINES
        }
        self.cases = lab.results
        self.controls = controls

    def as_json(self) -> dict[str, object]:
        return dict(vars(self))


def _caught(asked: Sequence[Asked], *, explicit: bool) -> tuple[int, int]:
    mine = [one for one in asked if explicit in one.back.values()]
    return sum(one.is_caught for one in mine), len(mine)


def looked_into(name: str, asked: Sequence[Asked]) -> list[str]:
    """Return every edit that was stopped for nothing, and every re-landing that wasn't, with what was answered."""
    out = []
    for one in asked:
        if one.is_caught if one.back else not one.stopped:
            continue
        what = "missed" if one.back else "too short to be sure" if one.short else "stopped for nothing"
        out += ["", f"== {what}: {name} {one.place}", *(f"   brings back {event[:8]}" for event in one.back)]
        out += [f"   {line}" for line in one.text.split("\n")]
    return out


def lines(rows: Sequence[Row]) -> list[str]:
    """Return the report as Markdown, the losing rows too."""
    heads = ("history", "edits asked", "verdicts", "explicit, rank 1", "silent, rank 1", "false stops / 1,000")
    out = [f"| {' | '.join((*heads, 'too short, stopped', 'notes / 1,000', 'ms (p50, p95)'))} |"]
    out.append("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        out.append(
            f"| {row.name} | {row.asked:,} of {row.edits:,} | {row.verdicts} | {told(*row.explicit)} "
            f"| {told(*row.silent)} "
            f"| {_per_thousand(*row.false)} | {row.short[0]}/{row.short[1]} | {_per_thousand(*row.notes)} "
            f"| {row.ms[0]:.1f}, {row.ms[1]:.1f} |"
        )
    explicit, silent, false, short, notes = (
        _sum(rows, name) for name in ("explicit", "silent", "false", "short", "notes")
    )
    out.append(
        f"| **all** | {sum(row.asked for row in rows):,} | {sum(row.verdicts for row in rows)} | {told(*explicit)} "
        f"| {told(*silent)} | {_per_thousand(*false)} | {short[0]}/{short[1]} | {_per_thousand(*notes)} | |"
    )
    out += ["", "| instead of the gate | re-landings stopped | false stops / 1,000 |", "|---|---|---|"]
    for name in BASELINES:
        right, of, wrong = (sum(row.baselines[name][at] for row in rows) for at in range(3))
        out.append(f"| {name} | {told(right, of)} | {_per_thousand(wrong, false[1])} |")
    out += ["", "| case | right | wrong | unexercised |", "|---|---|---|---|"]
    pooled: dict[str, Counter[str]] = {}
    for row in rows:
        for name, counts in row.cases.items():
            pooled.setdefault(name, Counter()).update(counts)
    for name in (*MUTATIONS, *NEGATIVES, *(f"N{n} twin" for n in (4, 5, 6, 7))):
        counts = pooled.get(name, Counter())
        wrong = sum(number for what, number in counts.items() if what.startswith("wrong"))
        out.append(f"| {name} | {counts['right']} | {wrong} | {counts['unexercised']} |")
    out += ["", "| control, which must catch nothing | caught |", "|---|---|"]
    for name in CONTROLS:
        found = [row.controls[name] for row in rows if name in row.controls]
        out.append(f"| {name} | {told(sum(one[0] for one in found), sum(one[1] for one in found))} |")
    return [*out, "", *(f"{name}: {verdict}" for name, verdict in verdicts(rows, pooled).items())]


def verdicts(rows: Sequence[Row], pooled: dict[str, Counter[str]]) -> dict[str, str]:
    """Return what of that which is asked was met: pass, fail, or unexercised; or that the run is void."""
    explicit, silent, false = (_sum(rows, name) for name in ("explicit", "silent", "false"))
    worst = max((1000 * row.false[0] / row.false[1] for row in rows if row.false[1] >= 200), default=0.0)
    said = {
        f"explicit re-landings at least {EXPLICIT} %": _met(explicit, EXPLICIT),
        f"silent re-landings at least {SILENT} %": _met(silent, SILENT),
        f"false stops at most {FALSE_POOLED} in 1,000": _passes(1000 * false[0] <= FALSE_POOLED * false[1])
        if false[1]
        else "unexercised",
        f"false stops at most {FALSE_WORST} in 1,000 in the worst history": _passes(worst <= FALSE_WORST),
    }
    for number in ("N4", "N5", "N6"):
        counts = [found for name, found in pooled.items() if name.startswith(number + " ")]
        done = sum(counts, Counter())
        said[f"{number} without a failure"] = (
            _passes(not any(what.startswith("wrong") for what in done)) if done["right"] else "unexercised"
        )
    leaking = [name for row in rows for name, (caught, of) in row.controls.items() if of >= 2 and caught * 10 > of]
    if leaking:
        said["controls"] = f"VOID: {', '.join(sorted(set(leaking)))} caught re-landings"
    return said


def _sum(rows: Sequence[Row], name: str) -> tuple[int, int]:
    found = [getattr(row, name) for row in rows]
    return sum(one[0] for one in found), sum(one[1] for one in found)


def _met(counts: tuple[int, int], percent: int) -> str:
    return _passes(100 * counts[0] >= percent * counts[1]) if counts[1] else "unexercised"


def _passes(is_met: bool) -> str:
    return "pass" if is_met else "fail"


def _per_thousand(wrong: int, of: int) -> str:
    if not of:
        return "unexercised"
    low, high = wilson(wrong, of)
    return f"{1000 * wrong / of:.2f} ({1000 * low:.2f}-{1000 * high:.2f})"
