"""Failures of requests to an S3 store."""

from stowplan.agents.attempt import failure
from stowplan.agents.attempt.failure import AttemptError, StoppedError

AUTH_CODES = (
    "AccessDenied",
    "AuthorizationHeaderMalformed",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
)
"""S3 error codes that a retry with the same credentials cannot cure. Some come with status 400."""


class ChangedError(Exception):
    """The object has changed since the listing: it must be fetched from its beginning."""


def of_any(error: Exception, what: str) -> AttemptError | ChangedError | StoppedError:
    """Return the failure for an exception; a message begins with `what`.

    Exceptions other than ChangedError, AttemptError, StoppedError and OSError are raised again.
    """
    if isinstance(error, ChangedError):
        return error
    return failure.of_any(error, what)
