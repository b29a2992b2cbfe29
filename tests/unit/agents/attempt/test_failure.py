"""Exit codes for errors of the file system."""

import errno

import pytest

from stowplan.agents.attempt.failure import of_system
from stowplan.schema.agents.exit_codes import ExitCode


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [
        (errno.ENOSPC, ExitCode.CONFLICT, "NoSpace"),
        (errno.EDQUOT, ExitCode.CONFLICT, "NoSpace"),
        (errno.EROFS, ExitCode.CONFLICT, "ReadOnly"),
        (errno.ELOOP, ExitCode.CONFLICT, "Link"),
        (errno.EIO, ExitCode.TRANSIENT, "FileSystem"),
        (errno.ESTALE, ExitCode.TRANSIENT, "FileSystem"),
    ],
)
def test_errors_that_need_a_person_are_not_retried(number: int, code: ExitCode, reason: str) -> None:
    failure = of_system(OSError(number, "why"), "a file")
    assert (failure.code, failure.reason, str(failure)) == (code, reason, "a file: why")
