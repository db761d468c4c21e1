"""Cache = fold: any history, any walk order, built at once or caught up in steps, gives the same rows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.core import events, objects
from gitmem.core.dates import of_seconds as time_of
from gitmem.core.history import Checker
from gitmem.core.lessons.policies import TENDER
from gitmem.core.lessons.words import content
from gitmem.core.lineages import entity_key
from gitmem.core.verdicts import judge
from gitmem.store import components, lessons
from gitmem.store.batch import facts_of
from gitmem.store.cache import Cache
from gitmem.store.memory_log import MemoryLog
from gitmem.store.upkeep import checked

FORM = objects.SHA1
ENTITIES = (
    "users",
    "users.email",
    "Users.Email",
    "accounts",
    "accounts.email",
    "src/a.py",
    "src/a.py::f",
    "deps/redis",
)
CORES = (
    "The fixture needs the time zone set.",
    "The fixture needs the time zone.",
    "Retries hid the real error.",
    "再試行は本当のエラーを隠す。",
)
CHANGES = ("add", "modify", "reject", "revert", "remove", "supersede", "rename", "retype")


class World:
    """Clones of one log, each with its tip and the events that it knows."""

    def __init__(self, clones: int) -> None:
        self.log = MemoryLog()
        self.log.publish([("tree", b""), ("commit", FORM.root_data)], FORM.root, None, "root")
        self.tips = [FORM.root] * clones
        self.known: list[dict[str, events.Event]] = [{} for _ in range(clones)]
        self.times = {FORM.root: 0}
        self.number = 0
        self.visited: list[list[str]] = [[FORM.root] for _ in range(clones)]

    def _publish(self, clone: int, stored: list[tuple[str, bytes]], oid: str) -> None:
        self.log.publish(stored, oid, self.log.tip(), "test")
        self.tips[clone] = oid
        self.visited[clone].append(oid)

    def append(self, clone: int, fields: dict[str, object]) -> None:
        self.number += 1
        clock = max((e.clock for e in self.known[clone].values()), default=0) + 1
        time = f"2026-01-01T00:{self.number // 60:02d}:{self.number % 60:02d}.000000Z"
        event, body = events.build(
            {
                "v": 1,
                "clock": clock,
                "nonce": f"{self.number:032x}",
                "recorded_at": time,
                "author": "Ada <ada@example.org>",
                "scope": "",
                "channel": "human",
                "basis": "person",
                "tool": "test/1",
                "after": [],
                **fields,
            }
        )
        blob = FORM.oid("blob", body)
        tree = objects.tree([(event.id + ".json", blob)])
        commit = objects.event_commit(FORM.oid("tree", tree), self.tips[clone], [event])
        oid = FORM.oid("commit", commit)
        self.times[oid] = objects.seconds(time)
        self.known[clone][event.id] = event
        self._publish(clone, [("blob", body), ("tree", tree), ("commit", commit)], oid)

    def join(self, one: int, other: int) -> None:
        a, b = self.tips[one], self.tips[other]
        if self.log.contains(a, b):
            return
        if self.log.contains(b, a):
            self.tips[one] = b
        else:
            commit = objects.join_commit(FORM, [(a, self.times[a]), (b, self.times[b])])
            oid = FORM.oid("commit", commit)
            self.times[oid] = max(self.times[a], self.times[b])
            self._publish(one, [("tree", b""), ("commit", commit)], oid)
        self.visited[one].append(self.tips[one])
        self.known[one].update(self.known[other])


def _experience(draw: st.DrawFn, known: list[str], taught: list[str]) -> dict[str, object]:
    """An event about lessons; what it targets may be anything, and is mostly a lesson."""
    known = taught if len(taught) > 1 and draw(st.integers(0, 3)) else known
    kind = (
        draw(st.sampled_from(("lesson", "lesson", "gist", "use", "sleep", "sleep", "undo", "mark")))
        if known
        else "lesson"
    )
    fields: dict[str, object] = {"kind": kind}
    if kind == "lesson":
        fields |= {"core": draw(st.sampled_from(CORES)), "topic": draw(st.sampled_from(("", "tests")))}
        fields["paths"] = draw(st.sampled_from(([], ["src/a.py"], ["src/a.py::f", "lib"])))
        fields["outcome"] = draw(st.sampled_from((-50, 0, 50)))
        if known and draw(st.integers(0, 3)) == 0:
            fields["targets"] = [draw(st.sampled_from(known))]
        return fields
    fields["targets"] = sorted(draw(st.lists(st.sampled_from(known), unique=True, min_size=1, max_size=2)))
    more: dict[str, dict[str, object]] = {
        "gist": {"gist": "The fixture needs the time zone."},
        "use": {"how": "applied"},
        "sleep": {"action": draw(st.sampled_from(("absorb", "absorb", "latent", "promote")))},
        "undo": {"reason": "because"},
        "mark": {"action": draw(st.sampled_from(("seal", "unseal", "mute", "pin"))), "reason": "because"},
    }
    return fields | more[kind]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World(draw(st.integers(1, 3)))
    clones = st.integers(0, len(world.tips) - 1)
    for _ in range(draw(st.integers(1, 14))):
        clone = draw(clones)
        if draw(st.integers(0, 4)) == 0:
            world.join(clone, draw(clones))
            continue
        known = sorted(world.known[clone])
        some = st.lists(st.sampled_from(known), unique=True, max_size=3) if known else st.just([])
        after = sorted(draw(some))
        if known and draw(st.integers(0, 3)) == 0:
            fields: dict[str, object] = {
                "kind": "review",
                "action": draw(st.sampled_from(("ratify", "dispute", "retract", "resolve"))),
                "targets": sorted(draw(st.lists(st.sampled_from(known), unique=True, min_size=1, max_size=2))),
                "reason": "because",
            }
        elif known and draw(st.integers(0, 6)) == 0:
            fields = {
                "kind": "link",
                "targets": [draw(st.sampled_from(known))],
                "commit": "1" * 40,
                "how": "head",
                "renames": draw(st.sampled_from(([], [["src/a.py", "src/b.py"]], [["src", "lib"]]))),
            }
        elif draw(st.integers(0, 2)) == 0:
            fields = _experience(
                draw, known, sorted(one for one, event in world.known[clone].items() if event.kind == "lesson")
            )
        else:
            change = draw(st.sampled_from(CHANGES))
            fields = {
                "kind": "change",
                "change_type": change,
                "entity_path": draw(st.sampled_from(ENTITIES)),
                "entity_type": "other",
                "reasoning": "because",
                "approach": draw(st.sampled_from(("", "", "hash", "store"))),
            }
            if change == "rename":
                fields["renamed_from"] = draw(st.sampled_from(ENTITIES))
            if known and change == "supersede":
                fields["supersedes"] = [draw(st.sampled_from(known))]
            if draw(st.integers(0, 4)) == 0:
                times = st.integers(0, 15).map(lambda second: f"2026-01-01T00:00:{second:02d}.000000Z")
                fields["valid_from"], fields["valid_to"] = sorted((draw(times), draw(times)))
        world.append(clone, {**fields, "after": after})
    for clone in range(1, len(world.tips)):
        world.join(0, clone)
    return world


@st.composite
def learnings(draw: st.DrawFn) -> World:
    """A log of one clone that holds nothing but experiences, and what is said of them."""
    world = World(1)
    for _ in range(draw(st.integers(2, 12))):
        known = world.known[0]
        taught = sorted(one for one, event in known.items() if event.kind == "lesson")
        world.append(0, {**_experience(draw, sorted(known), taught), "after": []})
    return world


def caught_up(world: World, tips: list[str], cache: Cache | None = None, known: list[str] | None = None) -> Cache:
    """A cache that was brought from tip to tip; a new one, or one that stands for `known`."""
    cache = cache or Cache.in_memory()
    known = known or []
    for tip in tips:
        checker = cache.checker(FORM)
        cache.db.execute("BEGIN")
        cache.apply(map(facts_of, checked(world.log, tip, known, checker)), tip)
        cache.keep_findings(checker.findings)
        cache.db.execute("COMMIT")
        known = [tip]
    return cache


@settings(max_examples=150)
@given(worlds())
def test_caught_up_in_steps_equals_built_at_once(world):
    at_once = caught_up(world, [world.tips[0]])
    path = [tip for tip in dict.fromkeys(world.visited[0]) if world.log.contains(world.tips[0], tip)]
    assert caught_up(world, [*path, world.tips[0]]).dump() == at_once.dump()
    # Twice the same, and with two checkers that agree.
    assert caught_up(world, [world.tips[0]]).dump() == at_once.dump()


@settings(max_examples=60)
@given(worlds())
def test_the_order_of_a_join_changes_nothing_but_the_tip(world):
    """State is a function of the set: a clone that pulls in another order ends with the same rows."""
    cache = caught_up(world, [world.tips[0]])
    other = Cache.in_memory()
    checker = Checker(FORM)
    entries = list(checked(world.log, world.tips[0], [], checker))
    other.db.execute("BEGIN")
    # Any order of entries: the reverse is the farthest from the one that it was built in.
    other.apply([facts_of(entry) for entry in reversed(entries)], world.tips[0])
    other.db.execute("COMMIT")
    skip = ("meta", "findings", "places")
    rows = [[row for row in one.dump() if row[0] not in skip] for one in (cache, other)]
    assert rows[0] == rows[1]


@settings(max_examples=150)
@given(learnings(), st.integers(0, 400))
def test_the_book_of_one_lesson_says_what_the_book_of_all_says(world, days):
    cache = caught_up(world, [world.tips[0]])
    moment = time_of(1_767_225_600 + days * 86_400)
    whole = lessons.book(cache, TENDER, moment)
    ids = {event.id for event in world.known[0].values() if event.kind == "lesson"}
    assert set(whole.lessons) == ids
    for lesson_id in ids:
        assert lessons.book(cache, TENDER, moment, [lesson_id]).lessons[lesson_id].state() == (
            whole.lessons[lesson_id].state()
        )
    # a lesson is found by each of its words and places
    shelf = lessons.Shelf(cache)
    assert shelf.total == len(ids)
    for event in world.known[0].values():
        if event.kind == "lesson":
            words = content(event.fields["core"])
            assert event.id in shelf.by_words(words) and all(shelf.frequency(words).values())
            paths = event.fields.get("paths", [])
            assert not paths or event.id in shelf.by_paths([entity_key(paths[0])])


MOVED = ("src", "src/x", "src/x/y", "lib", "lib/x", "lib/x/y/z", "app")


@st.composite
def movings(draw: st.DrawFn) -> World:
    """A log of one clone in which names move about, into what lies below them too, and back."""
    world = World(1)
    names = st.sampled_from(MOVED)
    for _ in range(draw(st.integers(2, 9))):
        path = draw(names)
        fields: dict[str, object] = {
            "kind": "change",
            "change_type": draw(st.sampled_from(("add", "reject", "modify"))),
            "entity_path": path,
            "entity_type": "other",
            "reasoning": "because",
        }
        if draw(st.booleans()):
            fields |= {
                "change_type": "rename",
                "renamed_from": draw(names.filter(lambda name, path=path: name != path)),
            }
        world.append(0, {**fields, "after": sorted(world.known[0])})
    return world


@settings(max_examples=150)
@given(movings(), st.sampled_from((2, components.NAMES_FEW)))
def test_however_names_move_the_cache_says_what_the_fold_over_everything_says(world, few):
    usual, components.NAMES_FEW = components.NAMES_FEW, few
    try:
        cache = caught_up(world, [*world.visited[0]])
    finally:
        components.NAMES_FEW = usual
    rows = cache.db.execute("SELECT scope, entity_path, akey, verdict, standing FROM decisions")
    judged = judge(world.known[0].values()).decisions()
    fold = [(one.scope, one.entity_path, one.approach_key, one.verdict, one.standing) for one in judged]
    assert sorted(rows) == sorted(fold)


def test_names_that_could_grow_for_ever_are_followed_no_farther_than_anybody_went():
    world = World(1)
    for path, old in (("src/x", ""), ("lib/x", ""), ("lib", "src"), ("src/x/y", "lib/x"), ("src/x/y/y", "")):
        change = {"change_type": "rename", "renamed_from": old} if old else {"change_type": "add"}
        about = {"kind": "change", "entity_path": path, "entity_type": "other", "reasoning": "because"}
        world.append(0, {**about, **change, "after": sorted(world.known[0])})
    cache = caught_up(world, [world.tips[0]])
    found = cache.lineage_names("", "src/x")
    assert {"lib/x", "src/x/y", "lib/x/y", "src/x/y/y"} <= set(found)
    assert len(found) < 100
