"""What is known of what was written, when an error comes at any moment."""

from __future__ import annotations

import pytest

from gitmem.errors import Writing, interrupted


@pytest.fixture(autouse=True)
def nothing_written():
    Writing.forget()
    yield
    Writing.forget()


def test_a_step_that_failed_was_not_done_and_one_that_was_interrupted_may_be() -> None:
    with pytest.raises(OSError), Writing():
        raise OSError
    assert (interrupted().written, interrupted().message) == (False, "interrupted; nothing was written.")
    with pytest.raises(KeyboardInterrupt), Writing():
        raise KeyboardInterrupt
    assert interrupted().written is None and "nothing was written" not in interrupted().message


def test_what_was_done_counts_whatever_is_interrupted_later() -> None:
    with Writing():
        pass
    assert interrupted().written is True
    Writing.events += 1
    assert interrupted().message == "interrupted; 1 event was appended before that, and stays."
    Writing.events += 1_999
    with pytest.raises(KeyboardInterrupt), Writing():
        raise KeyboardInterrupt
    assert interrupted().written is True
    assert interrupted().message == (
        "interrupted; the step that it was at may be done or not; 2,000 events were appended before that, and stay."
    )
