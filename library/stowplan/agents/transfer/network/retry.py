"""Retries of requests after temporary failures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cluster.backoff import Backoff
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode

T = TypeVar("T")

Translate = Callable[[Exception, str], AttemptError | StoppedError]
"""Function from an exception, and the name of the request for the message, to the failure to raise instead of it.

It raises exceptions again that it does not know.
"""

_MAY_PASS = (ExitCode.TRANSIENT, ExitCode.INTEGRITY)
OF_ALL = ("ClockSkew", "ExpiredCredentials")
"""Reasons of failures that every further request of this attempt would have too. A later attempt may succeed."""

_FOR_GOOD = ("Changed", "FileChanged", "FileSystem", "Moved", "ObjectGone", *OF_ALL)
"""Reasons of failures after which the request is not sent again in this attempt. A later attempt may succeed."""


class ThrottledError(AttemptError):
    """Temporary failure whose answer says how many seconds to wait before the next request; 0 if it does not say."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(ExitCode.TRANSIENT, "Throttled", message)
        self.seconds = seconds


@dataclass(frozen=True)
class Attempts:
    """Rule for sending requests again after failures that may pass."""

    retries: int
    """Number of times that one request is sent again."""
    stop: Stop
    log: Log
    translate: Translate
    told: Callable[[AttemptError | None], None] = lambda _: None
    """Function that is told of each failure after which a request is sent again, and, by None, of each success."""

    def run(self, what: str, call: Callable[[], T]) -> T:
        """Call a function until it succeeds, and return its result. `what` names the request in messages.

        After the last retry, or a failure that a retry cannot cure, it raises the translated error. Raises StoppedError
        if the work must stop.
        """
        backoff = Backoff()
        for left in range(self.retries, -1, -1):
            self.stop.check()
            try:
                found = call()
            except Exception as error:
                failure = self.translate(error, what)
                if not (left and isinstance(failure, AttemptError) and _may_pass(failure)):
                    raise failure from None
                wait = max(backoff.seconds(), failure.seconds if isinstance(failure, ThrottledError) else 0)
                self.log.warning(
                    "Trying a request again", what=what, error=str(failure), seconds=round(wait, 1), tries_left=left
                )
                self.told(failure)
                self.stop.sleep(wait)
            else:
                self.told(None)
                return found
        raise AssertionError("a loop of at least one round")


def _may_pass(failure: AttemptError) -> bool:
    return failure.code in _MAY_PASS and failure.reason not in _FOR_GOOD
