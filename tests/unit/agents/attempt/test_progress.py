"""Counts and rates, and the status fields made of them."""

import pytest

from stowplan.agents.attempt.outcome import AttemptOutcome, percent
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.transfer.status import of_cube


def test_rate_and_time_left() -> None:
    progress = Progress(files_total=2, bytes_total=1000, began=0)
    begin = progress.snapshot(now=0)
    assert (begin["bytesPerSecond"], begin.get("secondsLeft")) == (0, None)
    progress.add(size=200, resumed=400)
    now = progress.snapshot(now=2)
    # Bytes of an earlier attempt count as done, but not for the rate.
    assert (now["bytesDone"], now["bytesPerSecond"], now["secondsLeft"]) == (600, 100, 5)
    progress.add(files=2, size=400)
    assert progress.snapshot(now=3)["secondsLeft"] == 0


def test_rate_is_that_of_the_last_half_minute() -> None:
    progress = Progress(bytes_total=10_000, began=0)
    for second in range(100):
        progress.add(size=1000 if second < 10 else 10)
        last = progress.snapshot(now=second)
    assert last["bytesPerSecond"] == 10


def test_names_of_fields() -> None:
    assert "bytesPerSecond" in Progress().snapshot()
    assert "secondsLeft" not in Progress(bytes_total=1, began=0).snapshot(now=0)


@pytest.mark.parametrize(
    ("progress", "done", "text"),
    [
        (Progress(bytes_total=100, bytes_done=42), False, "42%"),
        (Progress(bytes_total=100, bytes_done=100), False, "99%"),
        (Progress(bytes_total=100, bytes_done=-1), False, "0%"),
        (Progress(files_total=4, files_done=1), False, "25%"),
        (Progress(), False, "0%"),
        (Progress(), True, "100%"),
    ],
)
def test_percent(progress: Progress, done: bool, text: str) -> None:  # noqa: FBT001 - a case
    assert percent(progress, done=done) == text


def test_status_of_a_failure() -> None:
    outcome = AttemptOutcome("run", None)
    outcome.end(5, "Locked", "somebody else writes")
    status = of_cube(outcome, phase=True)
    assert status["phase"] == "Failed"
    assert status["attempt"]["exitCode"] == 5
    assert "pod" not in status["attempt"]
    assert {each["type"]: each["status"] for each in status["conditions"]}["Failed"] == "True"
