"""What is taken for a secret and what is not, and what becomes of a draft that holds one."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from secret_samples import CASES, INNOCENT, SECRETS, letters

from gitmem.core import inspection, secret_tokens, secrets
from gitmem.core.drafts import Draft, Writer
from gitmem.errors import Refused, RuleViolation

PASSWORD = "hunter2horse!"
SECRET = f"DB_PASSWORD={PASSWORD}"


@pytest.mark.parametrize(("kind", "before", "secret", "after"), CASES)
def test_a_secret_is_found_where_it_stands_and_called_by_its_kind(kind, before, secret, after):
    text = f"{before}{secret}{after}"
    assert [(hit.kind, hit.field, text[hit.start : hit.end]) for hit in secrets.scan("reasoning", text)] == [
        (kind, "reasoning", secret)
    ]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_people_write_about_secrets_ids_hashes_and_code_passes(text):
    assert [hit.kind for hit in secrets.scan("reasoning", text)] == []
    assert [hit.kind for hit in secrets.scan("reasoning", f"{text}\n{SECRET}")] == ["password"]


def test_a_secret_is_found_in_the_middle_of_a_diff_and_again_and_again():
    diff = "@@ -1,2 +1,2 @@\n-x = 1\n" + f"+{SECRET}\n" * 3 + "+y = 2\n"
    assert len(secrets.scan("diff", diff)) == 3


def test_of_two_rules_that_see_one_secret_the_one_that_knows_more_names_it():
    token = "gh" + "p_" + letters(36)
    assert [hit.kind for hit in secrets.scan("reasoning", f"password={token}")] == ["GitHub token"]
    text = f"https://bot:{token}@example.org"
    assert [(hit.kind, text[hit.start : hit.end]) for hit in secrets.scan("reasoning", text)] == [
        ("GitHub token", token)
    ]


def test_redacted_text_holds_markers_and_nothing_of_the_secrets():
    for kind, before, secret, after in CASES:
        text = f"{before}{secret}{after}"
        clean = secrets.redacted(text, secrets.scan("reasoning", text))
        assert clean == f"{before}[secret: {kind}]{after}"
        assert secrets.scan("reasoning", clean) == []


# --- drafts -----------------------------------------------------------------------------------

FIELDS = {
    "reasoning": SECRET,
    "approach": SECRET,
    "instead": SECRET,
    "constraint": SECRET,
    "stale_when": SECRET,
    "expires_when": f"manual:{SECRET}",
    "revisit_after": SECRET,
    "diff": f"+{SECRET}\n",
    "patterns": ["plain", SECRET],
    "evidence": ["commit:1", f"url:https://bob:{PASSWORD}@example.org"],
    "tags": [SECRET],
    "agent": SECRET,
    "session_id": SECRET,
    "changeset_id": SECRET,
    "entity_path": f"env/{SECRET}",
    "renamed_from": f"env/{SECRET}",
    "scope": f"env/{SECRET}",
    "valid_from": SECRET,
    "change_type": SECRET,
    "anchors": [{"path": SECRET}],
    "a_field_of_tomorrow": SECRET,
}


def change(**fields: object) -> Draft:
    plain = {"entity_path": "users.email", "change_type": "add", "reasoning": "Login needs a stable address."}
    return Draft("change", {**plain, **fields})


@pytest.mark.parametrize("field", FIELDS)
def test_a_secret_in_any_field_is_refused_by_kind_and_field_and_not_shown(field):
    with pytest.raises(Refused) as refused:
        inspection.checked(change(**{field: FIELDS[field]}))
    error = refused.value
    assert (error.code, error.fields["field"]) == (15, field)
    assert "looks like a password" in error.message and "nothing was written" in error.message
    assert "keep the location, never the value" in error.advice
    assert PASSWORD not in f"{error.message} {error.advice} {error.fields}"
    assert inspection.checked(change()).fields["reasoning"] == "Login needs a stable address."


@pytest.mark.parametrize(("kind", "field"), [("review", "reason"), ("mark", "reason"), ("override", "reason")])
def test_every_kind_of_event_is_looked_at(kind, field):
    fields = {"action": "retract" if kind == "review" else "seal", "targets": ["0" * 64], field: SECRET}
    if kind == "override":
        del fields["action"]
    with pytest.raises(Refused) as refused:
        inspection.checked(Draft(kind, fields))
    assert refused.value.fields["field"] == field
    assert inspection.checked(Draft(kind, {**fields, field: "No longer so."})).fields[field] == "No longer so."


def test_a_secret_is_refused_before_a_refusal_that_would_quote_it():
    for fields in ({"change_type": SECRET}, {"valid_from": SECRET, "valid_to": "1"}, {"entity_path": SECRET + "\0"}):
        with pytest.raises(Refused) as refused:
            inspection.checked(change(**fields))
        assert PASSWORD not in str(refused.value) + refused.value.advice


def test_redact_secrets_stores_a_marker_and_says_where():
    hits: list[secrets.Hit] = []
    draft = Draft("change", change(reasoning=f"We set {SECRET} there.").fields, redact_secrets=True)
    clean = secrets.cleared(draft, hits=hits)
    assert clean.fields["reasoning"] == "We set DB_PASSWORD=[secret: password] there."
    assert "allow_secret" not in clean.fields
    assert secrets.told(hits) == ["reasoning: a marker stands in the place of what looks like a password"]
    assert draft.fields["reasoning"] == f"We set {SECRET} there."


def test_a_marker_in_a_name_is_a_name():
    draft = Draft("change", change(entity_path="env/AKIA" + "IOSFODNN7EXAMPLE").fields, redact_secrets=True)
    assert inspection.checked(draft).fields["entity_path"] == "env/secret-aws-access-key-id"


def test_history_is_not_refused_but_cleaned_and_counted():
    hits: list[secrets.Hit] = []
    drafts = [change(source="git:1", reasoning=SECRET, diff=f"+{SECRET}"), change(source="git:2")]
    first, second = secrets.cleared_history(drafts, (), hits)
    assert PASSWORD not in str(first.fields)
    assert second is drafts[1]
    assert secrets.counted(hits) == ["2 secrets in the history were replaced by markers (password 2)"]
    assert secrets.counted([]) == []
    assert PASSWORD not in str(inspection.checked(drafts[0]).fields)


def test_allow_secret_stores_the_text_and_says_so_and_only_where_there_is_one():
    allowed = Draft("change", change(reasoning=SECRET).fields, allow_secret=True)
    clean = inspection.checked(allowed)
    assert clean.fields["reasoning"] == SECRET and clean.fields["allow_secret"] is True
    assert "allow_secret" not in inspection.checked(Draft("change", change().fields, allow_secret=True)).fields


def test_allow_secret_needs_a_person_and_is_no_field_to_be_given():
    draft = Draft("change", change(reasoning=SECRET).fields, allow_secret=True)
    secrets.check_writer(Writer("Ada <ada@example.org>", "human", tool="t"), draft)
    for channel in ("agent", "script", "mcp", "hook", "ci", "import"):
        with pytest.raises(RuleViolation) as refused:
            secrets.check_writer(Writer("Ada <ada@example.org>", channel, tool="t"), draft)
        assert refused.value.code == 14 and "run this in your own terminal" in refused.value.advice
    with pytest.raises(Refused):
        inspection.checked(change(reasoning=SECRET, allow_secret=True))


def test_what_the_process_says_of_its_writer_is_looked_at_too():
    for name in ("agent", "session_id"):
        with pytest.raises(Refused) as refused:
            secrets.check_writer(Writer("Ada <ada@example.org>", "agent", tool="t", **{name: SECRET}), change())
        assert refused.value.fields["field"] == name
    secrets.check_writer(Writer("Ada <ada@example.org>", "agent", tool="t", agent="coder"), change())


# --- a project's own rules ----------------------------------------------------------------------


def test_a_project_adds_rules_of_its_own():
    own = secrets.own_rules({"secrets": {"patterns": {"build token": "acme_[A-Za-z0-9]{8}"}}})
    assert [(h.kind, h.start, h.end) for h in secrets.scan("reasoning", "use acme_12345678 now", own)] == [
        ("build token", 4, 17)
    ]
    assert secrets.scan("reasoning", "use acme_12345678 now") == []
    assert secrets.own_rules({}) == ()


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", ".*", "ab", "acme_.*", "acme_(a|b)+", "[a-z]{8}", "acme_[a-z", "acme_[a-z]+[a-z]+", r"acme_\1", 7],
)
def test_a_rule_that_could_be_slow_or_find_everything_is_refused(pattern):
    with pytest.raises(Refused) as refused:
        secrets.own_rules({"secrets": {"patterns": {"mine": pattern}}})
    assert "secrets.patterns.'mine'" in refused.value.message
    with pytest.raises(Refused):
        secrets.own_rules({"secrets": {"paterns": {}}})


# --- the table and its cost -----------------------------------------------------------------------


ROWS = (*secret_tokens.PLAIN, *secret_tokens.SHAPED)
PREFIXES = [prefix for prefixes, *_ in ROWS for prefix in prefixes.split()]


def test_every_kind_has_a_sample():
    assert {kind for _, kind, *_ in ROWS} <= set(SECRETS)


def test_no_token_with_a_sign_of_everyday_words_is_shorter_than_the_long_word_it_needs():
    assert set(PREFIXES) > secret_tokens.EVERYDAY
    plain = set(PREFIXES) - secret_tokens.EVERYDAY
    weak = [token for _, _, token, _ in CASES for sign in secret_tokens.EVERYDAY if token.startswith(sign)]
    assert len(weak) > 8
    assert all(len(token) >= secret_tokens.LONG for token in weak if not any(sign in token for sign in plain))
    assert all(least >= 20 for prefixes, _, _, least in secret_tokens.PLAIN if prefixes in secret_tokens.EVERYDAY)


def test_words_that_hold_a_sign_load_no_rules_and_a_token_among_them_does():
    program = (
        "import sys\nfrom gitmem.core import secrets\n"
        "assert not secrets.scan('reasoning', 'A task-list of malicious key-value pairs on DISK, TASK and MTU.')\n"
        "assert 'gitmem.core.secret_shapes' not in sys.modules\n"
        f"assert secrets.scan('reasoning', 'malicious: sk-' + {letters(48)!r})\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_everyday_text_loads_no_rules():
    program = (
        "import sys\nfrom gitmem.core import secrets\n"
        "assert not secrets.scan('reasoning', 'Login needs a stable address; see src/auth.py.')\n"
        "assert 'gitmem.core.secret_shapes' not in sys.modules\n"
        f"assert secrets.scan('reasoning', {SECRET!r})\n"
        "assert 'gitmem.core.secret_shapes' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_first_look_at_an_everyday_text_takes_microseconds():
    text = "Login needs a stable address that the person can change later, and support asks for it on the phone. " * 3
    best = 1.0
    for number in range(200):
        started = time.process_time()
        secrets.scan("reasoning", f"{number} {text}")
        best = min(best, time.process_time() - started)
    assert best < 0.0005


LIMIT = 64 * 1024


def _seconds(text: str) -> float:
    best = 1.0
    for number in range(3):
        started = time.process_time()
        secrets.scan("diff", f"{number}{text}")
        best = min(best, time.process_time() - started)
        if best < 0.03:
            break
    return best


PIECES = """
a A 1 = password= password:| pwd=' pwd=" token= token=a1b2c3d4e5f6| api_key= secret:|" :// ://a: ://a:b ://a:b@ @:// eyJ
eyJaaaaaaaaa. eyJaaaaaaaa.eyJaaaaaaaa Bearer| Bearer|aaaaaaaaaaaaaaaaaaaaaaa authorization:|basic| -----BEGIN|
-----BEGIN|PRIVATE|KEY----- -----BEGIN|PRIVATE|KEY-----AAAA PRIVATE|KEY| AKIA AKIAA xox xoxb- xoxb-aaaaaaaa sk- sk-a
sk-proj- SG. SG.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa. AccountKey= AccountKey=a hooks.slack.com/services/
hooks.slack.com/services/TTTTTTTT/ password|is| --password| -pass| <password> _pass=abcdef1| "token":" token=> -a1 a. a:
secret|key|base|=| access_key=aaaaaaaaaaaaa1. =abc& password=a&a= password=aaaaaa&b= AIza ghp_ github_pat_ npm_ > ' "
token=aB
""".split()


@pytest.mark.parametrize("piece", [piece.replace("|", " ") for piece in PIECES])
def test_no_text_of_64_kib_takes_50_ms(piece):
    for form in (piece, piece + " ", piece + "\n"):
        assert _seconds((form * (LIMIT // len(form) + 1))[:LIMIT]) < 0.05


def test_no_text_made_for_a_rule_of_the_table_takes_50_ms():
    for prefix in PREFIXES:
        for tail in ("", "a1 ", "0a" * 20):
            form = prefix + tail
            assert _seconds((form * (LIMIT // len(form) + 1))[:LIMIT]) < 0.05, prefix


def test_all_rules_at_once_take_less_than_100_ms():
    form = " ".join([prefix + "a1" for prefix in PREFIXES] + PIECES)
    assert _seconds((form * (LIMIT // len(form) + 1))[:LIMIT]) < 0.1
