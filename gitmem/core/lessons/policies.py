"""Policies: every constant by which lessons fade, merge, rise and are told, with where each comes from.

A policy has a name, a version and integers. `tender` remembers easily and lets go slowly; `austere` is hard to get
into and quick to fade. Two clones under different policies, with the same log, hold different lessons near and agree
on every fact. The digest of a policy stands in each outcome of a sleep, so one can tell by which it was made.

`PARAMETERS` is the only place where a constant of lessons has its value. `docs/parameters.md` is made of it.
"""

from __future__ import annotations

from collections import namedtuple

from gitmem.core import canonical, digests

#: How well founded a constant is, the firmest first.
#:
#: shape         the form of the curve is known from the literature, which is named; the number was chosen
#: contrast      the two policies differ in it on purpose, and a test shows what that comes to
#: convenience   a bound that keeps answers short or cheap; another would do
#: ad hoc        chosen by judgement, and not measured
GRADES = ("shape", "contrast", "convenience", "ad hoc")

Parameter = namedtuple("Parameter", ("name", "tender", "austere", "unit", "grade", "why", "test"))
Parameter.__doc__ = """One constant: its value in each policy, its unit, its grade, where it comes from, and the test
(file::name below tests/) that fails when it is changed."""

_FADING = "unit/test_lesson_fading.py::"
_BOOK = "unit/test_lesson_book.py::"
_LADDER = "unit/test_lesson_ladder.py::"
_RECALL = "unit/test_lesson_recall.py::"
_SLEEP = "unit/test_lesson_sleep.py::"
_CAPTURE = "unit/test_capture.py::"

PARAMETERS = (
    # fading
    Parameter(
        "half_life_days", 30, 14, "days", "contrast",
        "Access is lost fast at first and ever more slowly: Ebbinghaus, Über das Gedächtnis (1885). Halving at a "
        "constant rate between two uses, with a rate that uses slow down, is the two-component form of Woźniak, "
        "Gorzelańczyk and Murakowski (1995). A month, and two weeks.",
        _FADING + "test_a_lesson_that_nobody_uses_halves_with_each_half_life",
    ),
    Parameter(
        "use_gain", 60, 30, "percent", "shape",
        "Each use multiplies the half-life: Settles and Meeder, A Trainable Spaced Repetition Model (2016), where it "
        "doubles. Less than double, because our uses are not spaced.",
        _FADING + "test_each_use_lengthens_the_half_life",
    ),
    Parameter(
        "uses_max", 6, 4, "uses", "convenience",
        "From here on further uses lengthen nothing, so that no lesson outlives its repository by habit.",
        _FADING + "test_uses_beyond_the_most_lengthen_nothing",
    ),
    Parameter(
        "severity_gain", 200, 100, "percent", "shape",
        "What hurt is kept longer: McGaugh, The amygdala modulates the consolidation of memories of emotionally "
        "arousing experiences (2004). Linear in severity; this much is added at 100.",
        _FADING + "test_what_was_severe_fades_more_slowly",
    ),
    Parameter(
        "practice_factor", 150, 125, "percent", "ad hoc",
        "A practice is meant to last longer than a note.",
        _FADING + "test_what_binds_more_fades_more_slowly",
    ),
    Parameter(
        "policy_factor", 300, 200, "percent", "ad hoc",
        "A policy is meant to last longer than a practice.",
        _FADING + "test_what_binds_more_fades_more_slowly",
    ),
    Parameter(
        "near_bar", 350_000, 500_000, "ppm", "contrast",
        "At or above it a lesson is near: one and a half half-lives, and one.",
        _BOOK + "test_the_bands_of_a_life",
    ),
    Parameter(
        "latent_bar", 62_500, 125_000, "ppm", "contrast",
        "Below it a lesson is latent, and no longer told: four half-lives, and three.",
        _BOOK + "test_the_bands_of_a_life",
    ),
    Parameter(
        "touches_to_return", 2, 2, "touches", "shape",
        "One cue is chance, two are a need: relearning what was forgotten takes less than learning it "
        "(savings, Ebbinghaus 1885; Nelson 1985), and a single retrieval is not yet relearning.",
        _BOOK + "test_two_distinct_touches_bring_a_latent_lesson_back",
    ),
    Parameter(
        "lift_factor", 200, 200, "percent", "ad hoc",
        "Who takes back that a lesson went latent lifts it at least to this much of the bar, so that it takes a "
        "half-life to go latent again.",
        _BOOK + "test_who_takes_back_that_it_went_latent_lifts_it",
    ),
    # sleep and the ladder
    Parameter(
        "merge_cut", 60, 75, "percent", "contrast",
        "Two lessons that share this much of their content words say the same. Broder, On the resemblance and "
        "containment of documents (1997) for the measure.",
        _SLEEP + "test_the_merge_cut_decides_what_is_absorbed",
    ),
    Parameter(
        "pattern_at", 2, 2, "commits", "convenience",
        "The least number that can be called a pattern.",
        _LADDER + "test_two_three_and_two_of_three_make_the_rungs",
    ),
    Parameter(
        "rule_at", 3, 3, "commits", "ad hoc",
        "Once is chance, twice is coincidence. A person decides in any case.",
        _LADDER + "test_two_three_and_two_of_three_make_the_rungs",
    ),
    Parameter(
        "principle_at", 2, 2, "rules", "convenience",
        "The least number of rules that can have something in common.",
        _LADDER + "test_two_three_and_two_of_three_make_the_rungs",
    ),
    Parameter(
        "evidence_max", 64, 64, "lessons", "convenience",
        "So many lessons are named as the evidence of a promotion; the others count all the same.",
        _LADDER + "test_a_promotion_names_no_more_than_it_may",
    ),
    Parameter(
        "named_max", 8, 8, "lessons", "convenience",
        "The event that closes a sleep names so many of the lessons that it was about: it must name one.",
        _SLEEP + "test_the_closing_event_names_a_few_and_counts_all",
    ),
    Parameter(
        "rust_half_life_days", 180, 90, "days", "contrast",
        "Half of a rule's sheen goes in this time without use or new evidence. Rust is shown and takes nothing away.",
        _BOOK + "test_a_rule_rusts_by_half_with_each_half_life",
    ),
    # recall
    Parameter(
        "relevance_bar", 40, 55, "percent", "contrast",
        "Below it nothing is told: most questions to a memory have no answer in it. Chosen on the even half of a "
        "labelled set, measured on the odd half (docs/benchmarks.md).",
        _RECALL + "test_what_is_below_the_bar_is_not_told",
    ),
    Parameter(
        "words_least", 2, 2, "words", "convenience",
        "One shared word is chance, unless it is all that was asked.",
        _RECALL + "test_one_shared_word_is_chance_unless_it_is_the_question",
    ),
    Parameter(
        "words_enough", 5, 5, "words", "ad hoc",
        "A question is measured by so many of its rarest words, weighed by rarity (Spärck Jones, A statistical "
        "interpretation of term specificity, 1972), so that a long one asks for no more. Chosen on the labelled set.",
        _RECALL + "test_a_long_question_is_measured_by_its_rarest_words",
    ),
    Parameter(
        "place_gain", 40, 40, "percent", "ad hoc",
        "What the file in hand adds to relevance: enough to be told under tender, not under austere.",
        _RECALL + "test_the_file_in_hand_is_enough_under_tender_alone",
    ),
    Parameter(
        "gist_bar", 50, 70, "percent", "contrast",
        "A gist that has kept fewer of its core's content words is told as the core.",
        _RECALL + "test_a_gist_that_has_come_too_far_is_told_as_the_core",
    ),
    Parameter(
        "practice_weight", 125, 125, "percent", "ad hoc",
        "A practice ranks before a note that is as relevant and as near.",
        _RECALL + "test_what_binds_more_ranks_higher",
    ),
    Parameter(
        "policy_weight", 150, 150, "percent", "ad hoc",
        "A policy ranks before a practice.",
        _RECALL + "test_what_binds_more_ranks_higher",
    ),
    Parameter(
        "rust_bar", 500_000, 500_000, "ppm", "convenience",
        "From here on a rule's label says that it is rusty: one half-life without use or new evidence.",
        _RECALL + "test_a_rusty_rule_says_so",
    ),
    # capture: what a hook saw by itself
    Parameter(
        "capture_bar", 55, 65, "points", "contrast",
        "What a hook saw becomes a lesson from here on; below it waits. Tender takes a revert with its reason, an"
        " override near at hand, a test that failed twice; austere a revert with its reason, a test that failed "
        "three times.",
        _CAPTURE + "test_what_passes_the_bar_of_each_policy",
    ),
    Parameter(
        "capture_severity", 40, 40, "percent", "ad hoc",
        "The weight of what a capture weighs by its kind: what was taken back counts more than what failed once.",
        _CAPTURE + "test_a_score_is_the_sum_of_its_parts",
    ),
    Parameter(
        "capture_novelty", 25, 25, "percent", "ad hoc",
        "The weight of being unlike every lesson there is.",
        _CAPTURE + "test_a_score_is_the_sum_of_its_parts",
    ),
    Parameter(
        "capture_nearness", 15, 15, "percent", "ad hoc",
        "The weight of being about a file in hand, or half of it in its folder.",
        _CAPTURE + "test_a_score_is_the_sum_of_its_parts",
    ),
    Parameter(
        "capture_reuse", 20, 20, "percent", "ad hoc",
        "The weight of having been seen before, in other commits, sessions or days.",
        _CAPTURE + "test_a_score_is_the_sum_of_its_parts",
    ),
    Parameter(
        "capture_redundancy", 20, 20, "percent", "ad hoc",
        "What being like something else that waits takes away.",
        _CAPTURE + "test_a_score_is_the_sum_of_its_parts",
    ),
    Parameter(
        "severity_revert", 70, 70, "percent", "ad hoc",
        "A commit that was taken back, with a reason: somebody paid for it.",
        _CAPTURE + "test_what_each_kind_of_capture_weighs",
    ),
    Parameter(
        "severity_bare", 30, 30, "percent", "ad hoc",
        "A commit that was taken back without a word of why.",
        _CAPTURE + "test_what_each_kind_of_capture_weighs",
    ),
    Parameter(
        "severity_override", 50, 50, "percent", "ad hoc",
        "A stop that a person let pass: the decision and the work disagree.",
        _CAPTURE + "test_what_each_kind_of_capture_weighs",
    ),
    Parameter(
        "severity_failure", 25, 25, "percent", "ad hoc",
        "A test that failed: that is what tests are for, so once is little.",
        _CAPTURE + "test_what_each_kind_of_capture_weighs",
    ),
    Parameter(
        "capture_beside", 50, 50, "percent", "ad hoc",
        "The nearness of what is in a folder with a file in hand; of the file itself it is all.",
        _CAPTURE + "test_nearness_is_the_file_then_its_folder",
    ),
    Parameter(
        "capture_again", 50, 50, "percent", "ad hoc",
        "The reuse of each further commit, session or day in which it was seen: twice more is all.",
        _CAPTURE + "test_what_is_seen_again_counts_each_time",
    ),
    Parameter(
        "outcome_revert", -50, -50, "outcome", "ad hoc",
        "What was taken back did not hold. That it caused an incident, only its writer can say.",
        _CAPTURE + "test_what_each_kind_of_capture_weighs",
    ),
    Parameter(
        "outcome_failure", -20, -20, "outcome", "ad hoc",
        "A test that failed turned out badly, a little. An override says nothing of how it turned out.",
        _CAPTURE + "test_what_each_kind_of_capture_weighs",
    ),
    Parameter(
        "inbox_days", 30, 30, "days", "convenience",
        "What waits in the inbox, and that something was dropped, is forgotten after it.",
        _CAPTURE + "test_the_inbox_forgets_and_is_bounded",
    ),
    Parameter(
        "inbox_max", 200, 200, "captures", "convenience",
        "No more than these wait; the oldest go.",
        _CAPTURE + "test_the_inbox_forgets_and_is_bounded",
    ),
    # caution
    Parameter(
        "caution_base", 10, 10, "points", "ad hoc",
        "What one latent lesson without severity would raise at the edge of being told.",
        _CAPTURE + "test_caution_grows_with_what_is_left_and_with_severity",
    ),
    Parameter(
        "caution_max", 100, 100, "points", "convenience",
        "More care than all of it can't be asked for.",
        _CAPTURE + "test_caution_has_an_end",
    ),
)  # fmt: skip

Bound = namedtuple("Bound", ("place", "name", "grade", "why"))
Bound.__doc__ = """A number that is the same under every policy: its file in the package, its name there, its grade, and
where it comes from. Its value stands beside what it bounds; it decides how much is looked at, and nothing of what is
stored."""

BOUNDS = (
    Bound("core/lessons/recall.py", "BUDGET", "ad hoc", "Tokens of a recall where none are given: a page of text."),
    Bound("core/lessons/recall.py", "BUDGET_MIN", "convenience", "The least budget that holds a line."),
    Bound(
        "core/lessons/recall.py", "EXACT_MAX", "convenience",
        "So many decisions that a question names are told: they come first, and must leave room.",
    ),
    Bound("core/lessons/recall.py", "IN_HAND", "convenience", "The file in hand is so near; each folder above, half."),
    Bound(
        "core/lessons/recall.py", "PRIOR_LESSONS", "ad hoc",
        "So many lessons of others are thought to stand beside those of a log when a word's rarity is told, so that in "
        "a small log no word is rare by chance. Chosen on the labelled set.",
    ),
    Bound("core/lessons/recall.py", "_STEPS", "convenience", "Steps of a word's weight in one doubling of its rarity."),
    Bound("core/lessons/recall.py", "STEMS_MAX", "convenience", "So many words of a question are asked about."),
    Bound("cases/recalling.py", "LOOKED_AT", "convenience", "So many lessons that hold some of the words are weighed."),
    Bound("cases/recalling.py", "OF_A_TOPIC", "convenience", "So many lessons of a rule's topic are looked at."),
    Bound("cases/recalling.py", "RULES_TOLD", "convenience", "So many rules are looked at for a question."),
    Bound("cases/recalling.py", "PROMOTIONS_MAX", "convenience", "So many of the newest promotions, for a digest."),
    Bound("cases/recalling.py", "FILES_MAX", "convenience", "So many changed files are taken for a digest."),
    Bound("cases/recalling.py", "CHANGES_MAX", "convenience", "So many of the newest events that hold the words."),
    Bound("cases/recalling.py", "NAMES_MAX", "convenience", "So many words of a question are looked up as names."),
    Bound("cases/teaching.py", "COMPARED_MAX", "convenience", "So many lessons are held against a new one."),
    Bound("cases/capturing.py", "WEIGHED_MAX", "convenience", "So many captures are weighed at a commit, the newest."),
    Bound("cases/capturing.py", "PATHS_MAX", "convenience", "So many files does a lesson name that a hook writes."),
    Bound("cases/cautioning.py", "LOOKED_MAX", "convenience", "So many lessons around an edit are looked at."),
    Bound("cases/cautioning.py", "NOTES_MAX", "convenience", "So many files of one call get a note of caution."),
    Bound("store/lessons.py", "COMMON_FROM", "convenience", "A word that more lessons have is common."),
    Bound("store/lessons.py", "FOUND_MAX", "convenience", "So many lessons does one lookup give, the newest."),
    Bound("store/lessons.py", "RULES_MAX", "convenience", "So many promotions are looked at, the newest."),
    Bound("store/inbox.py", "USES_MAX", "convenience", "So many uses wait for the next commit."),
    Bound("store/inbox.py", "BUSY_S", "convenience", "So long (in seconds) is waited for another process."),
    Bound("store/inbox.py", "KEYS_MAX", "convenience", "So many commits and sessions of a capture count."),
)  # fmt: skip


class Policy:
    """The constants of one policy, as attributes named after `PARAMETERS`; values never change once it is made.

    label    "tender/1 0123456789ab": name, version, and the first digits of the digest
    digest   SHA-256 (hex) over name, version and constants
    """

    half_life_days: int
    use_gain: int
    uses_max: int
    severity_gain: int
    practice_factor: int
    policy_factor: int
    near_bar: int
    latent_bar: int
    touches_to_return: int
    lift_factor: int
    merge_cut: int
    pattern_at: int
    rule_at: int
    principle_at: int
    evidence_max: int
    named_max: int
    rust_half_life_days: int
    relevance_bar: int
    words_least: int
    words_enough: int
    place_gain: int
    gist_bar: int
    practice_weight: int
    policy_weight: int
    rust_bar: int
    capture_bar: int
    capture_severity: int
    capture_novelty: int
    capture_nearness: int
    capture_reuse: int
    capture_redundancy: int
    severity_revert: int
    severity_bare: int
    severity_override: int
    severity_failure: int
    capture_beside: int
    capture_again: int
    outcome_revert: int
    outcome_failure: int
    inbox_days: int
    inbox_max: int
    caution_base: int
    caution_max: int

    def __init__(self, name: str, version: int, constants: dict[str, int]) -> None:
        self.name = name
        self.version = version
        self.constants = constants
        self.__dict__.update(constants)
        spelt: dict[str, object] = dict(constants)
        self.digest = digests.sha256(
            canonical.encode({"constants": spelt, "name": name, "version": version})
        ).hexdigest()
        self.label = f"{name}/{version} {self.digest[:12]}"

    def band(self, access: int) -> str:
        """Return the band in which something of this access lies: near, cold or latent."""
        return NEAR if access >= self.near_bar else COLD if access >= self.latent_bar else LATENT

    def varied(self, **constants: int) -> Policy:
        """Return this policy with other values of some constants. No log knows it; it is for trying."""
        unknown = constants.keys() - self.constants.keys()
        if unknown:
            raise ValueError(f"no constant of lessons: {', '.join(sorted(unknown))}")
        return Policy(self.name, self.version, self.constants | constants)

    def __repr__(self) -> str:
        return f"<Policy {self.label}>"


#: How sharp a lesson is, the sharpest first.
NEAR, COLD, LATENT = BANDS = ("near", "cold", "latent")

#: The version rises with every change of a value, or of a table of words that a policy reads by.
VERSION = 1
TENDER = Policy("tender", VERSION, {one.name: one.tender for one in PARAMETERS})
AUSTERE = Policy("austere", VERSION, {one.name: one.austere for one in PARAMETERS})
POLICIES = (TENDER, AUSTERE)
NAMES = (TENDER.name, AUSTERE.name)


def named(name: str) -> Policy | None:
    """Return the policy of a name, "" for the one that holds where none is chosen, or None where there is no such."""
    return {"": TENDER, TENDER.name: TENDER, AUSTERE.name: AUSTERE}.get(name)
