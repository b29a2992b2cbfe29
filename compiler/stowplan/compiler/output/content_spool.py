"""Contents that wait in a file for their turn, where many together would take much memory.

The file has no name: it ends with the last process that has it open, whatever happens to them.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, NamedTuple
from weakref import WeakValueDictionary

if sys.platform != "win32":
    import fcntl


@contextmanager
def _alone(file: IO[bytes]) -> Iterator[None]:
    """While no other process writes to the file; on Windows there is none that has it."""
    if sys.platform != "win32":
        fcntl.lockf(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if sys.platform != "win32":
            fcntl.lockf(file, fcntl.LOCK_UN)


class Spool:
    """One file for this process and those that are forked from it."""

    def __init__(self) -> None:
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - as long as anybody holds what is in it
        _spools[self._file.fileno()] = self

    def put(self, contents: Sequence[bytes]) -> "list[Spooled]":
        """Where each of them is from now on."""
        with _alone(self._file):
            start = self._file.seek(0, os.SEEK_END)
            left = memoryview(b"".join(contents))
            while left:
                left = left[self._file.write(left) :]
        found = []
        for content in contents:
            found.append(Spooled(self, start, len(content)))
            start += len(content)
        return found

    def read(self, start: int, length: int) -> bytes:
        """So many bytes from `start`."""
        return os.pread(self._file.fileno(), length, start)

    def __reduce__(self) -> tuple[object, ...]:
        """For processes that were forked from one another: each has the file open under the same number."""
        return _known, (self._file.fileno(),)

    def __del__(self) -> None:
        self._file.close()


class Spooled(NamedTuple):
    """The place of a content, which `bytes` reads."""

    spool: Spool
    start: int
    length: int

    def __bytes__(self) -> bytes:
        return self.spool.read(self.start, self.length)


_spools: "WeakValueDictionary[int, Spool]" = WeakValueDictionary()


def _known(number: int) -> Spool:
    return _spools[number]
