"""The frame of an attempt: it reports every end everywhere, and without secrets."""

import io
import json
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stowplan.agents.attempt import program
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.program import AttemptProgram
from stowplan.agents.attempt.redaction import RedactedStream, Redactor
from stowplan.agents.attempt.stop import Stop, Why
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.status import of_cube
from stowplan.schema.agents.exit_codes import ExitCode

SECRET = "sk/CANARY+wJalr"


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A program handles the signals of its process, which here is the process of the tests."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def raises_failure() -> str:
    raise AttemptError(ExitCode.AUTH, "AccessDenied", f"refused {SECRET}")


def raises_bug() -> str:
    raise ValueError(SECRET)


def succeeds() -> str:
    return f"done with {SECRET}"


@pytest.mark.parametrize(("work", "code"), [(raises_failure, 3), (raises_bug, 10), (succeeds, 0)])
def test_last_words_status_and_log_hold_no_secret(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[], str], code: int
) -> None:
    words: list[Any] = []
    monkeypatch.setattr(program, "leave", lambda *reported: words.append(reported))
    redact = Redactor([SECRET])
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", RedactedStream(stream, redact))
    outcome = AttemptOutcome("run", "pod")
    log = Log("json", {}, RedactedStream(stream, redact))  # type: ignore[arg-type]
    assert AttemptProgram("transfer", outcome, Stop(), log, redact, None).run(work, None) == code
    reported = json.dumps([words, of_cube(outcome, phase=True)]) + stream.getvalue()
    assert SECRET not in reported
    assert reported.count("[redacted]") >= 3


@pytest.mark.parametrize(("why", "reported"), [("signal", (143, "Terminated")), ("failure", (10, "Hangs"))])
def test_work_that_hangs_is_left_alone(monkeypatch: pytest.MonkeyPatch, why: Why, reported: tuple[int, str]) -> None:
    stop, never = Stop(), threading.Event()

    def hangs() -> str:
        stop.set(why)
        never.wait()
        return "done"

    left: list[int] = []
    monkeypatch.setattr(program, "HANG_SECONDS", 0.2)
    monkeypatch.setattr(program, "FAILURE_SECONDS", 0.2)
    monkeypatch.setattr(program, "_vanish", left.append)
    outcome = AttemptOutcome("run", "pod")
    code = AttemptProgram("transfer", outcome, stop, Log("json", {}, io.StringIO()), Redactor([]), None).run(
        hangs, None
    )
    never.set()
    assert (code, outcome.reason) == reported
    assert left == ([143] if why == "signal" else [])
