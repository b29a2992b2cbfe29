"""How a transfer fails: an exit code, a word for machines and a sentence for people."""

import errno

from obstore.exceptions import BaseError, PermissionDeniedError, PreconditionError, UnauthenticatedError

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

_HOLLOW = {errno.ENOSPC: "NoSpace", errno.EDQUOT: "NoSpace", errno.EROFS: "ReadOnly", errno.EACCES: "NoAccess"} | {
    errno.EPERM: "NoAccess",
    errno.ELOOP: "Link",
    errno.ENOTDIR: "NotADirectory",
    errno.EISDIR: "IsADirectory",
    errno.ENOTEMPTY: "IsADirectory",
    errno.ENAMETOOLONG: "NameTooLong",
}
"""What the file system says of a destination that only a person can mend."""


class TransferError(Exception):
    """The end of the transfer, or of one file of it."""

    def __init__(self, code: ExitCode, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        """One word in CamelCase, as the reason of a condition."""


class ChangedError(Exception):
    """The object is another one than was listed: it must be fetched from its beginning."""


class StoppedError(Exception):
    """There is to be no more work; the `Stop` knows why."""


def of_store(error: Exception, key: str) -> TransferError | ChangedError:
    """What an error of obstore means for one object."""
    text = str(error).partition("\n\nDebug source")[0]
    if isinstance(error, PreconditionError):
        return ChangedError(key)
    if isinstance(error, FileNotFoundError):
        return TransferError(ExitCode.TRANSIENT, "ObjectGone", f"{key} was listed but is not there any more")
    if isinstance(error, PermissionDeniedError | UnauthenticatedError) or any(code in text for code in AUTH_CODES):
        return TransferError(ExitCode.AUTH, "AccessDenied", f"No access to {key}: {text}")
    return TransferError(ExitCode.TRANSIENT, "RequestFailed", f"{key}: {text}")


def of_system(error: OSError, what: str) -> TransferError:
    """What an error of the local file system means."""
    reason = _HOLLOW.get(error.errno or 0)
    code = ExitCode.CONFLICT if reason else ExitCode.TRANSIENT
    return TransferError(code, reason or "FileSystem", f"{what}: {error.strerror or error}")


def of_any(error: Exception, what: str) -> TransferError | ChangedError | StoppedError:
    """The failure that an exception stands for; what is no error of a server or of the system is raised again."""
    if isinstance(error, TransferError | ChangedError | StoppedError):
        return error
    # obstore raises FileNotFoundError, an OSError without a number, for an object that is not there.
    if isinstance(error, BaseError) or (isinstance(error, FileNotFoundError) and error.errno is None):
        return of_store(error, what)
    if isinstance(error, OSError):
        return of_system(error, what)
    raise error
