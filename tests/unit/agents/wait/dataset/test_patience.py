"""The end and the exit code of the wait, for polls at given times."""

import pytest

from stowplan.agents.wait.dataset.patience import OLD_FAILURE, REFUSAL, DatasetPatience
from stowplan.agents.wait.dataset.readiness import Poll
from stowplan.schema.agents.wait_config import WaitConfig

READY, WAITING = Poll("ready", "it is synced"), Poll("waiting", "no sync has completed it")
FAILED, AGAIN = Poll("failed", "its sync failed for good (run a)"), Poll("failed", "its sync failed for good (run b)")
REFUSED, BROKEN = Poll("refused", "user 65532 may not read /mnt"), Poll("broken", "its mount cannot be read")


def codes(*looks: tuple[float, Poll], timeout: int = 10_000) -> list[int | None]:
    config = WaitConfig(dataset="data", path="/mnt/data", until="synced", timeout=timeout)
    patience = DatasetPatience(config)
    outcomes = [patience.after(poll, now) for now, poll in looks]
    return [int(outcome.code) if outcome else None for outcome in outcomes]


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ([(0, READY)], [0]),
        ([(0, WAITING), (5, READY)], [None, 0]),
        ([(0, WAITING), (5, FAILED)], [None, 4]),
        ([(0, FAILED), (OLD_FAILURE - 1, FAILED), (OLD_FAILURE, FAILED)], [None, None, 4]),
        ([(0, FAILED), (5, WAITING), (6, READY)], [None, None, 0]),
        ([(0, FAILED), (5, AGAIN)], [None, 4]),
        ([(0, FAILED), (5, WAITING), (6, FAILED)], [None, None, 4]),
        ([(0, BROKEN), (5, FAILED), (OLD_FAILURE + 5, FAILED)], [None, None, 4]),
        ([(0, REFUSED), (5, FAILED), (6, WAITING), (7, FAILED)], [None, None, None, 4]),
        ([(0, FAILED), (5, BROKEN), (6, FAILED)], [None, None, None]),
        ([(0, FAILED), (5, WAITING), (OLD_FAILURE + 5, WAITING)], [None, None, None]),
        ([(0, REFUSED), (REFUSAL - 1, REFUSED), (REFUSAL, REFUSED)], [None, None, 3]),
        ([(0, WAITING), (50, REFUSED), (REFUSAL + 1, REFUSED)], [None, None, None]),
        ([(0, BROKEN), (9000, BROKEN), (9001, READY)], [None, None, 0]),
        ([(0, WAITING), (10_000, WAITING)], [None, 12]),
        ([(0, BROKEN), (10_001, BROKEN)], [None, 12]),
        ([(10_001, READY)], [0]),
    ],
)
def test_outcomes(looks: list[tuple[float, Poll]], expected: list[int | None]) -> None:
    assert codes(*looks) == expected


def test_the_message_names_the_dataset_and_what_is_missing() -> None:
    patience = DatasetPatience(WaitConfig(dataset="data", path="/mnt/data", until="synced", timeout=60))
    assert patience.after(WAITING, 59) is None
    outcome = patience.after(WAITING, 60)
    assert outcome
    assert outcome.message == ("Dataset data is not synced after 60 s: no sync has completed it. Its status says more")


def test_a_hanging_poll_ends_at_the_timeout() -> None:
    patience = DatasetPatience(WaitConfig(dataset="data", path="/mnt/data", until="synced", timeout=60))
    assert patience.after(None, 59) is None
    outcome = patience.after(None, 61)
    assert outcome
    assert (outcome.code, outcome.reason) == (12, "Timeout")
    assert "does not return" in outcome.message
