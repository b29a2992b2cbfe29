"""Pool of threads with a short queue."""

import queue
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from stowplan.agents.attempt.failure import AttemptError, StoppedError, contained
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.network.retry import OF_ALL, Translate
from stowplan.schema.agents.exit_codes import PERMANENT

Task = Callable[[], None]

LEAVE_SECONDS = 2.0
"""Seconds that an early end of the work waits for running tasks. Then it abandons them."""

MOST_FAILURES = 100
"""Number of failed files after which the remaining ones are skipped."""


class ThreadPool:
    """Pool of `size` threads that run tasks. Its queue holds at most `size` tasks, and `give` waits while it is full.

    `translate` turns an exception of a task into a failure; `failures` counts them. As a context manager it ends the
    work early on an error; after success `end` must be called. The threads run from the constructor on.
    """

    def __init__(self, size: int, stop: Stop, log: Log, translate: Translate) -> None:
        self._tasks: queue.Queue[Task | None] = queue.Queue(size)
        self._stop, self._log, self._translate = stop, log, translate
        self._lock = threading.Lock()
        self._worst: AttemptError | None = None
        self._bug: Exception | None = None
        self.failures = 0
        # Daemon threads: a hanging request must not delay the end of the process.
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(size)]
        for each in self._threads:
            each.start()

    def give(self, task: Task) -> None:
        """Add a task to the queue; wait while the queue is full. Raises StoppedError if the work must stop."""
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
        """After an error in the block, request a stop and wait up to `LEAVE_SECONDS` for running tasks.

        If the error is a StoppedError that a failed task caused, raise the failure of that task instead.
        """
        if error is None:
            return
        self._stop.set("failure")
        end = time.monotonic() + LEAVE_SECONDS
        for each in self._threads:
            each.join(max(0.0, end - time.monotonic()))
        if isinstance(error, StoppedError) and self._stop.why == "failure":
            self.judge()

    def drain(self) -> None:
        """Wait until all queued tasks have ended, with or without an error.

        Raises StoppedError if the work must stop.
        """
        with self._tasks.all_tasks_done:
            while self._tasks.unfinished_tasks:
                self._check()
                self._tasks.all_tasks_done.wait(0.2)

    def end(self) -> None:
        """Wait for all tasks, then end the threads. Raises AttemptError if a task failed, StoppedError after a stop."""
        self.drain()
        for _ in self._threads:
            self._tasks.put(None)
        for each in self._threads:
            each.join()
        self.judge()
        self._stop.check()

    def judge(self) -> None:
        """Raise AttemptError if a task failed so far: the first failure of the gravest kind.

        The gravest are those that no retry can cure; then come those that all requests of the attempt have. An
        exception that `translate` does not know goes before all of them, and is raised itself.
        """
        if self._bug:
            raise self._bug
        if self._worst:
            raise self._worst

    def failed(self, failure: AttemptError) -> None:
        """Record and log the failure of a task.

        All work stops after a failure that no retry can cure or that all requests have, or after `MOST_FAILURES`
        failures.
        """
        with self._lock:
            self.failures += 1
            if self._worst is None or _gravity(failure) > _gravity(self._worst):
                self._worst = failure
            hopeless = _gravity(failure) > 0 or self.failures >= MOST_FAILURES
        self._log.error(str(failure), reason=failure.reason, code=int(failure.code))
        if hopeless:
            self._stop.set("failure")

    def _check(self) -> None:
        """Raise StoppedError if the work must stop, and RuntimeError if all threads have ended."""
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
                if isinstance(failure, AttemptError):
                    self.failed(failure)
            except BaseException as bug:
                self._bug = self._bug or contained(bug)
                self._stop.set("failure")


def _gravity(failure: AttemptError) -> int:
    return 2 if failure.code in PERMANENT else int(failure.reason in OF_ALL)


class Countdown:
    """Group of `count` tasks with one common result.

    The last task to end calls `end` with the first error of any task, or with None if all succeeded.
    """

    def __init__(self, count: int, end: Callable[[Exception | None], None]) -> None:
        self._lock = threading.Lock()
        self._left = count
        self._end = end
        self._error: Exception | None = None

    def run(self, task: Task) -> None:
        """Run one task of the group; after an error of another task, only count it.

        A StoppedError of the task is raised. Its other errors go to `end`, whose own errors are raised.
        """
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
