"""How an attempt fails: an exit code, a word for machines and a sentence for people."""

import errno

from stowplan.schema.agents.exit_codes import ExitCode

_HOLLOW = {errno.ENOSPC: "NoSpace", errno.EDQUOT: "NoSpace", errno.EROFS: "ReadOnly", errno.EACCES: "NoAccess"} | {
    errno.EPERM: "NoAccess",
    errno.ELOOP: "Link",
    errno.ENOTDIR: "NotADirectory",
    errno.EISDIR: "IsADirectory",
    errno.ENOTEMPTY: "IsADirectory",
    errno.ENAMETOOLONG: "NameTooLong",
}
"""What the file system says of a destination that only a person can mend."""


class AttemptError(Exception):
    """The end of the attempt, or of one file of it."""

    def __init__(self, code: ExitCode, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        """One word in CamelCase, as the reason of a condition."""


class StoppedError(Exception):
    """There is to be no more work; the `Stop` knows why."""


class FaultError(Exception):
    """The work ended by something that is no Exception, such as a panic of a library in another language."""


def contained(error: BaseException) -> Exception:
    """The error itself, or a FaultError in its place: SystemExit of a thread, for example, must not end the process."""
    if isinstance(error, Exception):
        return error
    fault = FaultError(f"{type(error).__name__}: {error}")
    fault.__cause__ = error
    return fault


def of_system(error: OSError, what: str) -> AttemptError:
    """What an error of the local file system means."""
    reason = _HOLLOW.get(error.errno or 0)
    code = ExitCode.CONFLICT if reason else ExitCode.TRANSIENT
    return AttemptError(code, reason or "FileSystem", f"{what}: {error.strerror or error}")


def of_any(error: Exception, what: str) -> AttemptError | StoppedError:
    """The failure that an exception stands for; what is no error of the system is raised again."""
    if isinstance(error, AttemptError | StoppedError):
        return error
    if isinstance(error, OSError):
        return of_system(error, what)
    raise error
