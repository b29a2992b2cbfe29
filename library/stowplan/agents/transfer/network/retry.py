"""Sends a request again that failed for a reason which may pass."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cluster.backoff import Backoff
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode

T = TypeVar("T")

Translate = Callable[[Exception, str], Exception]
"""Gives the failure that an exception stands for, in words that name what was done; raises what stands for none."""

_MAY_PASS = (ExitCode.TRANSIENT, ExitCode.INTEGRITY)
_FOR_GOOD = ("FileChanged", "FileSystem", "ObjectGone")
"""Reasons of failures that end this attempt of the whole transfer for their file, although a later one may go well."""


class ThrottledError(AttemptError):
    """The server said how long to wait."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(ExitCode.TRANSIENT, "Throttled", message)
        self.seconds = seconds


@dataclass(frozen=True)
class Attempts:
    """The patience with one request."""

    retries: int
    stop: Stop
    log: Log
    translate: Translate

    def run(self, what: str, call: Callable[[], T]) -> T:
        """The result of a call, after as many tries as it takes; what `translate` made of the last error else."""
        backoff = Backoff()
        for left in range(self.retries, -1, -1):
            self.stop.check()
            try:
                return call()
            except Exception as error:
                failure = self.translate(error, what)
                if not left or not _may_pass(failure):
                    raise failure from None
                wait = max(backoff.seconds(), failure.seconds if isinstance(failure, ThrottledError) else 0)
                self.log.warning(
                    "Trying a request again", what=what, error=str(failure), seconds=round(wait, 1), tries_left=left
                )
                self.stop.sleep(wait)
        raise AssertionError("a loop of at least one round")


def _may_pass(failure: Exception) -> bool:
    return isinstance(failure, AttemptError) and failure.code in _MAY_PASS and failure.reason not in _FOR_GOOD
