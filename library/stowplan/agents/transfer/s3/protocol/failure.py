"""How a request to an S3 store fails."""

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
"""Error codes of S3 that another attempt with the same credentials cannot mend. Some come with status 400."""


class ChangedError(Exception):
    """The object is another one than was listed: it must be fetched from its beginning."""


def of_any(error: Exception, what: str) -> AttemptError | ChangedError | StoppedError:
    """The failure that an exception stands for; what is no error of a server or of the system is raised again."""
    if isinstance(error, ChangedError):
        return error
    return failure.of_any(error, what)
