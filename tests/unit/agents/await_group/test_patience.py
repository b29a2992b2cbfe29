"""The time for which await tolerates a missing right, and the pauses between retries."""

import pytest

from stowplan.agents.await_group.patience import AT_START, LATER, Patience
from stowplan.agents.cluster.backoff import FIRST, LONGEST, Backoff


@pytest.mark.parametrize("status", [401, 403])
def test_a_right_may_be_missing_for_a_moment_at_the_start(status: int) -> None:
    patience = Patience()
    assert patience.lasts(status, 100)
    assert patience.lasts(status, 99 + AT_START)
    assert not patience.lasts(status, 100 + AT_START)


def test_a_right_granted_before_may_be_missing_for_longer() -> None:
    patience = Patience()
    patience.lasts(None, 0)
    assert patience.lasts(403, 100)
    assert patience.lasts(403, 99 + LATER)
    assert not patience.lasts(403, 100 + LATER)


def test_a_granted_right_resets_the_patience() -> None:
    patience = Patience()
    patience.lasts(403, 0)
    patience.lasts(None, 10)
    assert patience.lasts(403, 10_000)


def test_other_errors_are_retried_forever() -> None:
    patience = Patience()
    assert all(patience.lasts(status, now) for now, status in enumerate([429, 500, 503, 504] * 1000))


def test_waits_double_up_to_a_limit_and_can_be_reset() -> None:
    backoff = Backoff()
    waits = [backoff.seconds() for _ in range(20)]
    steps = [min(LONGEST, FIRST * 2**number) for number in range(20)]
    assert all(step / 2 <= wait <= step for wait, step in zip(waits, steps, strict=True))
    backoff.reset()
    assert backoff.seconds() <= FIRST
