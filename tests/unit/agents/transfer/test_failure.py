"""What errors of the file system and of obstore mean."""

import errno

import pytest
from obstore.exceptions import GenericError

from stowplan.agents.attempt.failure import AttemptError, of_system
from stowplan.agents.transfer.s3.failure import of_any
from stowplan.schema.exit_codes import ExitCode


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
def test_what_only_a_person_can_mend_is_not_tried_again(number: int, code: ExitCode, reason: str) -> None:
    failure = of_system(OSError(number, "why"), "a file")
    assert (failure.code, failure.reason, str(failure)) == (code, reason, "a file: why")


def test_debug_output_of_the_client_is_left_out() -> None:
    failure = of_any(GenericError("went wrong\n\nDebug source:\nSecret { TimedOut }"), "a")
    assert isinstance(failure, AttemptError)
    assert str(failure) == "a: went wrong: timed out"
