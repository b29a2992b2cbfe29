"""The lock of the output folder."""

import errno
import os
from pathlib import Path

import pytest

from stowplan.compiler.output import lock


def test_an_error_of_the_lock_leaves_no_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []

    def fail(descriptor: int) -> None:
        used.append(descriptor)
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "_lock", fail)
    with pytest.raises(OSError, match="No locks"), lock.held(tmp_path):
        pass
    (descriptor,) = used
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_second_run_does_not_get_the_lock(tmp_path: Path) -> None:
    with lock.held(tmp_path) as first, lock.held(tmp_path) as second:
        assert (first, second) == (True, False)
