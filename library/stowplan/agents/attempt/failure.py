"""Failures of an attempt: an exit code, a reason for machines and a sentence for people."""

import errno

from stowplan.schema.agents.exit_codes import ExitCode

SHOWN = 10
"""Maximum number of names that a message or the log lists."""

_HOLLOW = {errno.ENOSPC: "NoSpace", errno.EDQUOT: "NoSpace", errno.EROFS: "ReadOnly", errno.EACCES: "NoAccess"} | {
    errno.EPERM: "NoAccess",
    errno.ELOOP: "Link",
    errno.ENOTDIR: "NotADirectory",
    errno.EISDIR: "IsADirectory",
    errno.ENXIO: "NotAFile",
    errno.ENOTEMPTY: "IsADirectory",
    errno.ENAMETOOLONG: "NameTooLong",
}
"""Reason of the failure for each error number of the file system that only a person can correct."""


class AttemptError(Exception):
    """Failure of the whole attempt, or of its work on one file, with the exit code that the attempt should end with."""

    def __init__(self, code: ExitCode, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        """One word in CamelCase, used as the reason of a condition."""


class StoppedError(Exception):
    """The work must stop; `Stop.why` gives the cause."""


class FaultError(Exception):
    """The work ended with a BaseException that is no Exception, such as a panic of a library in another language."""


def contained(error: BaseException) -> Exception:
    """Return an Exception as it is, and any other BaseException wrapped in a FaultError.

    For example, a SystemExit in a thread must not end the process.
    """
    if isinstance(error, Exception):
        return error
    fault = FaultError(f"{type(error).__name__}: {error}")
    fault.__cause__ = error
    return fault


def of_system(error: OSError, what: str) -> AttemptError:
    """Return the failure for an error of the local file system. `what` is the beginning of the failure's message.

    The exit code is CONFLICT (5) for an error that only a person can correct, and otherwise TRANSIENT (10).
    """
    reason = _HOLLOW.get(error.errno or 0)
    code = ExitCode.CONFLICT if reason else ExitCode.TRANSIENT
    return AttemptError(code, reason or "FileSystem", f"{what}: {error.strerror or error}")


def of_any(error: Exception, what: str) -> AttemptError | StoppedError:
    """Return AttemptError and StoppedError as they are, and an OSError as an AttemptError. Raise any other exception.

    `what` is the beginning of the message for an OSError.
    """
    if isinstance(error, AttemptError | StoppedError):
        return error
    if isinstance(error, OSError):
        return of_system(error, what)
    raise error
