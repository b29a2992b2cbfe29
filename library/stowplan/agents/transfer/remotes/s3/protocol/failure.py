"""Failures of requests to an S3 store."""

from stowplan.agents.attempt import failure
from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.transfer.parts import ChangedError

REFUSED_CODES = ("BadRequest", "InvalidArgument", "InvalidRequest", "NotImplemented")
"""S3 error codes of stores that refuse headers that they do not know."""


class UnsortedError(Exception):
    """The store lists keys in another order than the ascending one. The message names two keys."""


def of_any(error: Exception, what: str) -> AttemptError | ChangedError | StoppedError:
    """Return the failure for an exception; a message begins with `what`.

    Exceptions other than ChangedError, AttemptError, StoppedError and OSError are raised again.
    """
    if isinstance(error, ChangedError):
        return error
    return failure.of_any(error, what)
