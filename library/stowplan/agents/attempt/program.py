"""Common parts of a program that makes one attempt.

They are signals, deadline, progress log, reports, termination message and exit code.
"""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from stowplan.agents.attempt.failure import AttemptError, StoppedError, of_any
from stowplan.agents.attempt.interruption import interruptible
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.report import StatusReporter
from stowplan.agents.attempt.stop import Stop, Why
from stowplan.agents.attempt.termination_log import leave
from stowplan.agents.runtime.log import Log, shortened, visible
from stowplan.schema.agents.exit_codes import TERMINATED, ExitCode

LOG_SECONDS = 10.0
"""Seconds between two log lines about the progress."""

LONGEST_TRACE = 16 * 1024
"""Maximum length of a logged traceback in characters. Of a longer traceback only the end is logged."""

HANG_SECONDS, FAILURE_SECONDS = 6.0, 60.0
"""Seconds that the work may still take: the first after a signal or a deadline, the second after a failure.

Then the program no longer waits for the work, since a file system may hang much longer.
"""

END_SECONDS = 8.0
"""Seconds after a signal within which flushing and the last report must finish; then the process ends."""


@dataclass(frozen=True)
class AttemptProgram:
    """One attempt at a task, with everything that surrounds the work itself."""

    what: str
    """Word for the task in messages, such as `transfer` or `warmup`."""
    outcome: AttemptOutcome
    stop: Stop
    log: Log
    redact: Redactor
    soft_deadline_seconds: int | None
    """Seconds after which the attempt stops. Its partial result remains. None for no limit."""

    def run(self, work: Callable[[], str], reporter: StatusReporter | None) -> int:
        """Do the work in another thread, report its result and return the exit code. Call this in the main thread.

        `work` returns a sentence that says what was done; its errors become exit codes. `reporter` is ended after the
        work; None for no reports. If a signal or the soft deadline ended the attempt, the process exits at once with
        its exit code, and this method does not return.
        """
        _watch_signals(self.stop)
        deadline = self._watch_deadline()
        ticking = threading.Event()
        threading.Thread(target=self._tick, args=(ticking,), daemon=True).start()
        try:
            code, reason, message = self._attempt(work)
        finally:
            ticking.set()
            if deadline:
                deadline.cancel()
        self._end(code, reason, shortened(self.redact(message)), reporter)
        if code in (TERMINATED, ExitCode.SOFT_DEADLINE):
            _vanish(code)
        return code

    def _end(self, code: int, reason: str, message: str, reporter: StatusReporter | None) -> None:
        self.outcome.end(code, reason, message)
        counts: dict[str, Any] = dict(self.outcome.progress.snapshot())
        leave(code, reason, message, counts)
        if reporter:
            reporter.end()
        (self.log.error if code else self.log.info)(message, reason=reason, code=code, **counts)

    def _attempt(self, work: Callable[[], str]) -> tuple[int, str, str]:
        """Do the work and return the exit code, reason and message of the attempt."""
        try:
            return ExitCode.DONE, "Succeeded", interruptible(self.stop, work, _patience)
        except StoppedError:
            return self._stopped()
        except Exception as error:
            try:
                failure = of_any(error, f"the {self.what}")
            except Exception:
                return self._fault(error)
            if isinstance(failure, AttemptError):
                return failure.code, failure.reason, str(failure)
            return self._stopped()
        except BaseException as error:
            # Libraries in other languages raise such errors. They must not end the process without a report.
            return self._fault(error)

    def _fault(self, error: BaseException) -> tuple[int, str, str]:
        trace = self.redact("".join(traceback.format_exception(error)))[-LONGEST_TRACE:]
        sys.stderr.write("\n".join(map(visible, trace.split("\n"))))
        return ExitCode.TRANSIENT, "Fault", f"A fault of this program: {error!r}"

    def _stopped(self) -> tuple[int, str, str]:
        if self.stop.why == "deadline":
            return ExitCode.SOFT_DEADLINE, "SoftDeadline", "The time of this attempt is over: what it has is kept"
        if self.stop.why == "failure":
            message = "A part of the work failed, and the rest did not come to its end: does the file system answer?"
            return ExitCode.TRANSIENT, "Hangs", message
        return TERMINATED, "Terminated", "Ended by a signal: what is there is kept"

    def _watch_deadline(self) -> threading.Timer | None:
        if self.soft_deadline_seconds is None:
            return None
        timer = threading.Timer(self.soft_deadline_seconds, self.stop.set, ("deadline",))
        timer.daemon = True
        timer.start()
        return timer

    def _tick(self, over: threading.Event) -> None:
        while not over.wait(LOG_SECONDS):
            self.log.info(f"The {self.what} is under way", **self.outcome.progress.snapshot())


def _patience(why: Why | None) -> float:
    return FAILURE_SECONDS if why == "failure" else HANG_SECONDS


def _watch_signals(stop: Stop) -> None:
    def end(*_: object) -> None:
        stop.set("signal")
        threading.Thread(target=_end_at_last, daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)


def _end_at_last() -> None:
    time.sleep(END_SECONDS)
    os._exit(TERMINATED)


def _vanish(code: int) -> NoReturn:
    """Exit with this code at once, without waiting for other threads: they may wait for a server that never answers."""
    sys.stderr.flush()
    os._exit(code)
