"""What sounds like a closed approach is refused once; who was shown it may go on."""


def test_a_reason_that_sounds_like_a_closed_approach_is_refused_once(make_repo, cli, git):
    repo = make_repo()
    words = ("--approach", "store the card token in our own table")
    assert cli("reject", "users.card_token", *words, "-r", "Audit scope.", cwd=repo).code == 0
    asked = ("record", "users.card_token", "add", "-r", "Store the card token in our table again.")
    tip = git("rev-parse", "refs/decisions/log", cwd=repo)
    first = cli(*asked, cwd=repo)
    assert first.code == 14 and "nothing was written" in first.stderr
    assert git("rev-parse", "refs/decisions/log", cwd=repo) == tip
    # Somebody else, in a session of their own, has not been shown it.
    assert cli(*asked, "--session", "other", cwd=repo).code == 14
    again = cli(*asked, cwd=repo)
    assert again.code == 0
    assert "closed here" in again.stderr
    # A reason that says another thing was never stopped.
    assert cli("record", "users.card_token", "add", "-r", "Hash it.", cwd=repo).code == 0
