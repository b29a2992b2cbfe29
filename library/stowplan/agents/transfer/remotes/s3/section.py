"""Range of a file as the body of a request."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3.checksum import new_digest
from stowplan.agents.transfer.remotes.s3.protocol.keeper import ALGORITHM
from stowplan.agents.transfer.tree import Found
from stowplan.schema.agents.exit_codes import ExitCode

CHUNK = 1 << 20
"""Bytes of a file in memory at one time per thread. Smaller files are read into memory as a whole."""


@dataclass(frozen=True)
class Section:
    """Range of an open file as the body of a request. At most `CHUNK` bytes of it are in memory."""

    descriptor: int
    offset: int
    size: int
    check: Callable[[], None]
    """Function that raises StoppedError if the work must stop, and AttemptError if the file has changed."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes in hexadecimal digits."""
        return self._sent[0].hex()

    @property
    def checksum(self) -> bytes:
        """Checksum that the store is to keep."""
        return self._sent[1]

    @cached_property
    def _sent(self) -> list[bytes]:
        return self.digests("sha256", ALGORITHM)

    def digests(self, *algorithms: str) -> list[bytes]:
        """Read the bytes once, and return their checksums by these algorithms of S3."""
        found = [new_digest(each) for each in algorithms]
        for data in self.chunks():
            for digest in found:
                digest.update(data)
        return [each.digest() for each in found]

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes in order. Raises the errors of `check`, and AttemptError if the file has become shorter."""
        offset, end = self.offset, self.offset + self.size
        while offset < end:
            data = os.pread(self.descriptor, min(CHUNK, end - offset), offset)
            self.check()
            if not data:
                raise AttemptError(ExitCode.TRANSIENT, "FileChanged", "A file became shorter while it was read")
            yield data
            offset += len(data)


def check_unchanged(descriptor: int, found: Found) -> None:
    """Raise AttemptError if the size or time of an open file differs from `found`."""
    status = os.fstat(descriptor)
    if (status.st_size, status.st_mtime_ns) != (found.size, found.modified_ns):
        message = f"{found.key} was changed while it was copied"
        raise AttemptError(ExitCode.TRANSIENT, "FileChanged", message)
