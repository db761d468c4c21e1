"""Agents' clients: setting them up in this repository, and saying whether they still are."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.cases.results import SetUp
from gitmem.core.clients import CLIENTS
from gitmem.errors import Refused, Usage, Writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk


def setup(desk: Desk, agents: Sequence[str] = (), *, dry_run: bool = False, check: bool = False) -> SetUp:
    """Do what `Memory.setup` says."""
    from gitmem.store.setup import FileStep, Setup

    place = Setup(desk.repository)
    chosen = _named(agents) or (place.present() if check else place.detected())
    if not chosen and not check:
        raise Refused(
            field="setup",
            what="no agent's client was found, neither in this repository nor for you",
            hint=f"name one: `git decisions setup --agent claude` ({', '.join(CLIENTS)}).",
        )
    steps: list[tuple[str, bool, bool]] = []
    diffs: list[str] = []
    remarks: list[str] = []
    drifted: list[str] = []
    for step in place.plan(chosen) if chosen else ():
        already = step.done
        diffs.append("" if already or not isinstance(step, FileStep) else step.diff)
        if isinstance(step, FileStep) and not already:
            drifted.append(step.path)
        if not already and not dry_run and not check:
            with Writing():
                step.apply()
        steps.append((step.sentence, step.done and not already, already))
        if step.remark:
            remarks.append(step.remark)
    if check and not chosen:
        remarks.append("no agent's client is set up in this repository: `git decisions setup`.")
    if not check and desk.log().tip() is None:
        remarks.append("this repository keeps no decisions yet, so nothing is stopped: `git decisions init`.")
    if not check and not _has_sdk():
        remarks.append('gitmem\'s tools need one package more: `pip install "git-decisions[mcp]"`.')
    if not check and not all(already for _, _, already in steps):
        remarks += [f"{CLIENTS[name].name}: {CLIENTS[name].by_hand}" for name in chosen if CLIENTS[name].by_hand]
    is_in_order = bool(chosen) and not drifted
    return SetUp(
        steps, remarks, dry_run=dry_run or check, agents=chosen, diffs=diffs, is_in_order=is_in_order if check else None
    )


def _has_sdk() -> bool:
    import importlib.util

    return importlib.util.find_spec("mcp") is not None


def _named(agents: Sequence[str]) -> list[str]:
    chosen = []
    for name in agents:
        known = CLIENTS.get(name)
        if known is None:
            import difflib

            nearest = difflib.get_close_matches(name, list(CLIENTS), n=1, cutoff=0.5)
            asked = f"; did you mean `{nearest[0]}`?" if nearest else ""
            raise Usage(
                what=f"--agent: {name!r} is no agent that gitmem knows{asked}",
                hint=f"one of {', '.join(CLIENTS)}.",
            )
        if name not in chosen:
            chosen.append(name)
    return chosen
