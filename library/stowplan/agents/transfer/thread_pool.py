"""Threads that take one task after the other."""

import queue
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from stowplan.agents.attempt.failure import AttemptError, StoppedError, contained
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.network.retry import Translate
from stowplan.schema.agents.exit_codes import PERMANENT, ExitCode

Task = Callable[[], None]

LEAVE_SECONDS = 2.0
"""What threads get to come to the end of what they do, when the work ends early."""

MOST_FAILURES = 100
"""Files that may fail before the rest is not even tried."""


class Crew:
    """So many tasks run at one time, and few more wait: whoever gives them is held back."""

    def __init__(self, size: int, stop: Stop, log: Log, translate: Translate) -> None:
        self._tasks: queue.Queue[Task | None] = queue.Queue(size)
        self._stop, self._log, self._translate = stop, log, translate
        self._lock = threading.Lock()
        self._worst: AttemptError | None = None
        self._bug: Exception | None = None
        self.failures = 0
        # Daemons: a request that hangs must not hold up the end of the process.
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(size)]
        for each in self._threads:
            each.start()

    def give(self, task: Task) -> None:
        """Waits for room; StoppedError if there is to be no more work."""
        while True:
            self._check()
            try:
                self._tasks.put(task, timeout=0.2)
            except queue.Full:
                continue
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Gives the threads a moment to end what they do, and raises what ended the work rather than that it ended."""
        if error is None:
            return
        self._stop.set("failure")
        end = time.monotonic() + LEAVE_SECONDS
        for each in self._threads:
            each.join(max(0.0, end - time.monotonic()))
        if isinstance(error, StoppedError) and self._stop.why == "failure":
            self.judge()

    def drain(self) -> None:
        """Waits until all given tasks have ended, each well or not; StoppedError if there is to be no more work."""
        with self._tasks.all_tasks_done:
            while self._tasks.unfinished_tasks:
                self._check()
                self._tasks.all_tasks_done.wait(0.2)

    def end(self) -> None:
        """Waits for all given tasks, and lets the threads go; AttemptError if any task failed."""
        self.drain()
        for _ in self._threads:
            self._tasks.put(None)
        for each in self._threads:
            each.join()
        self.judge()
        self._stop.check()

    def judge(self) -> None:
        """AttemptError if any task failed."""
        if self._bug:
            raise self._bug
        if self._worst:
            raise self._worst

    def failed(self, failure: AttemptError) -> None:
        """Takes note of a failure. One that no further attempt can mend ends the work of all."""
        with self._lock:
            self.failures += 1
            if self._worst is None or (self._worst.code not in PERMANENT and failure.code in PERMANENT):
                self._worst = failure
            hopeless = failure.code in PERMANENT or self.failures >= MOST_FAILURES
        self._log.error(str(failure), reason=failure.reason, code=int(failure.code))
        if hopeless:
            self._stop.set("failure")

    def _check(self) -> None:
        """StoppedError if there is to be no more work, RuntimeError if nobody is left to do it."""
        self._stop.check()
        if not any(each.is_alive() for each in self._threads):
            self._stop.check()
            raise RuntimeError("All workers have ended before their tasks")

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                task = self._tasks.get(timeout=0.5)
            except queue.Empty:
                continue
            try:
                if task is None:
                    return
                self._do(task)
            finally:
                self._tasks.task_done()

    def _do(self, task: Task) -> None:
        try:
            task()
        except StoppedError:
            return
        except BaseException as error:
            try:
                failure = self._translate(contained(error), "the transfer")
                if not isinstance(failure, StoppedError):
                    self.failed(failure if isinstance(failure, AttemptError) else _fault(failure))
            except BaseException as bug:
                self._bug = self._bug or contained(bug)
                self._stop.set("failure")


def _fault(failure: Exception) -> AttemptError:
    return AttemptError(ExitCode.TRANSIENT, "Fault", f"A fault of this program: {failure!r}")


class Countdown:
    """Tasks that together make one thing: the last one to end calls `end` with the first error, None for none."""

    def __init__(self, count: int, end: Callable[[Exception | None], None]) -> None:
        self._lock = threading.Lock()
        self._left = count
        self._end = end
        self._error: Exception | None = None

    def run(self, task: Task) -> None:
        """One of them; after an error it is only counted. StoppedError comes through."""
        try:
            if self._error is None:
                task()
        except BaseException as error:
            self._error = self._error or contained(error)
            if isinstance(error, StoppedError):
                raise
        finally:
            with self._lock:
                self._left -= 1
                last = self._left == 0
            if last:
                self._end(self._error)
