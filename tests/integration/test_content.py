"""What a text brings back, found by its lines."""

from __future__ import annotations

REJECTED = """def charge(card_number, cvv, amount):
    token = gateway.tokenize(card_number, cvv)
    database.store("card_tokens", token, expires=None)
    return gateway.charge(token, amount, currency="EUR")
"""


def test_a_text_that_brings_a_rejected_change_back_is_known_by_its_lines(make_repo, cli, tmp_path):
    repo = make_repo()
    (tmp_path / "rejected.py").write_text(REJECTED)
    done = cli(
        "reject",
        "payments.card_token",
        "-r",
        "No tokens in our database.",
        "--diff",
        tmp_path / "rejected.py",
        cwd=repo,
    )
    assert done.code == 0, done.stderr
    again = "import x\n\n" + REJECTED.replace("    ", "\t")
    answer = cli("prior", "--content", "-", "--json", cwd=repo, input=again).json
    assert answer["known"] == "yes"
    (attempt,) = answer["attempts"]
    assert attempt["match"] == "content" and attempt["score"] == 100
    assert attempt["entity_path"] == "payments.card_token"
    other = "def refund(order):\n    return ledger.refund(order.identifier, order.amount)\n"
    assert cli("prior", "--content", "-", "--json", cwd=repo, input=other).json["attempts"] == []


def test_a_diff_counts_by_the_lines_that_it_adds(make_repo, cli, git, tmp_path):
    repo = make_repo()
    (repo / "charge.py").write_text(REJECTED)
    git("add", "charge.py", cwd=repo)
    git("commit", "-q", "-m", "charge", cwd=repo)
    assert cli("reject", "charge.py", "-r", "Not like this.", "--diff", "HEAD", cwd=repo).code == 0
    half = "\n".join(REJECTED.splitlines()[:2])
    score = cli("prior", "--content", "-", "--json", cwd=repo, input=half).json["attempts"][0]["score"]
    assert 30 <= score < 100
