"""The time for which agents tolerate a missing right, and the pauses between retries."""

import pytest

from stowplan.agents.cluster.answers import Refused, Unreachable
from stowplan.agents.cluster.backoff import FIRST, LONGEST, Backoff
from stowplan.agents.cluster.patience import AT_START, LATER, Patience

FORBIDDEN = Refused(403, "Forbidden", "")


@pytest.mark.parametrize("status", [401, 403])
def test_a_right_may_be_missing_for_a_moment_at_the_start(status: int) -> None:
    patience = Patience()
    assert patience.lasts(Refused(status, "", ""), 100)
    assert patience.lasts(Refused(status, "", ""), 99 + AT_START)
    assert not patience.lasts(Refused(status, "", ""), 100 + AT_START)


def test_a_right_granted_before_may_be_missing_for_longer() -> None:
    patience = Patience()
    patience.lasts(None, 0)
    assert patience.lasts(FORBIDDEN, 100)
    assert patience.lasts(FORBIDDEN, 99 + LATER)
    assert not patience.lasts(FORBIDDEN, 100 + LATER)


def test_a_granted_right_resets_the_patience() -> None:
    patience = Patience()
    patience.lasts(FORBIDDEN, 0)
    patience.lasts(None, 10)
    assert patience.lasts(FORBIDDEN, 10_000)


def test_other_errors_are_retried_forever() -> None:
    patience = Patience()
    assert all(patience.lasts(Refused(status, "", ""), now) for now, status in enumerate([429, 500, 503, 504] * 1000))
    assert all(patience.lasts(Unreachable("ConnectError"), now) for now in range(0, 10_000, 1000))


def test_a_right_that_somebody_is_about_to_give_may_be_missing_for_longer_from_the_start() -> None:
    patience = Patience(at_start=LATER)
    assert patience.lasts(FORBIDDEN, 0)
    assert patience.lasts(FORBIDDEN, LATER - 1)
    assert not patience.lasts(FORBIDDEN, LATER)


def test_waits_double_up_to_a_limit_and_can_be_reset() -> None:
    backoff = Backoff()
    waits = [backoff.seconds() for _ in range(20)]
    steps = [min(LONGEST, FIRST * 2**number) for number in range(20)]
    assert all(step / 2 <= wait <= step for wait, step in zip(waits, steps, strict=True))
    backoff.reset()
    assert backoff.seconds() <= FIRST
