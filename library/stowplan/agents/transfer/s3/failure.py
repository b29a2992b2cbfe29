"""How a request to an S3 store fails."""

from obstore.exceptions import BaseError, PermissionDeniedError, PreconditionError, UnauthenticatedError

from stowplan.agents.attempt import failure
from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.schema.exit_codes import ExitCode

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


def of_store(error: Exception, key: str) -> AttemptError | ChangedError:
    """What an error of obstore means for one object."""
    text, _, details = str(error).partition("\n\nDebug source")
    if "TimedOut" in details:
        text += ": timed out"
    if isinstance(error, PreconditionError):
        return ChangedError(key)
    if isinstance(error, FileNotFoundError):
        return AttemptError(ExitCode.TRANSIENT, "ObjectGone", f"{key} was listed but is not there any more")
    if isinstance(error, PermissionDeniedError | UnauthenticatedError) or any(code in text for code in AUTH_CODES):
        return AttemptError(ExitCode.AUTH, "AccessDenied", f"No access to {key}: {text}")
    return AttemptError(ExitCode.TRANSIENT, "RequestFailed", f"{key}: {text}")


def of_any(error: Exception, what: str) -> AttemptError | ChangedError | StoppedError:
    """The failure that an exception stands for; what is no error of a server or of the system is raised again."""
    if isinstance(error, ChangedError):
        return error
    # obstore raises FileNotFoundError, an OSError without a number, for an object that is not there.
    if isinstance(error, BaseError) or (isinstance(error, FileNotFoundError) and error.errno is None):
        return of_store(error, what)
    return failure.of_any(error, what)
