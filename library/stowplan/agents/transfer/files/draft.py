"""The one writer of files of a copy: a file under a temporary name, until all of its bytes are on disk."""

import errno
import os
from typing import Self

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode

SYNC_FROM = 1 << 20
"""Size in bytes from which on a file is synced to disk before it gets its name. Smaller ones are synced together later.

The record of an attempt counts a file as copied, after a crash of the cluster node, only from the next common sync on.
"""


class Draft:
    """Open file of a copy, with a temporary name in `folder`, which is on the file system of the destination.

    Write its bytes, from any thread, then call `finish` and `place`; `close` alone leaves it. Methods raise OSError.
    """

    def __init__(self, folder: ClaimFolder, name: str, descriptor: int) -> None:
        self.folder, self.name, self.descriptor = folder, name, descriptor

    @classmethod
    def new(cls, folder: ClaimFolder, name: str) -> Self:
        """Begin an empty file. A file or link that has the name is replaced."""
        return cls(folder, name, folder.new(name, 0o644))

    @classmethod
    def begun(cls, folder: ClaimFolder, name: str) -> Self | None:
        """Open the file of an earlier attempt to go on with it; None if there is none."""
        descriptor = folder.existing(name)
        return None if descriptor is None else cls(folder, name, descriptor)

    @property
    def status(self) -> os.stat_result:
        """Attributes of the file at present."""
        return os.fstat(self.descriptor)

    @property
    def size(self) -> int:
        """Size in bytes at present."""
        return self.status.st_size

    def resize(self, size: int) -> None:
        """Cut the file to `size` bytes, or extend it to them by a hole."""
        os.ftruncate(self.descriptor, size)

    def write(self, data: bytes | memoryview, offset: int) -> None:
        """Write all bytes of `data` at an offset. One call of the system may write fewer than it is given."""
        view = memoryview(data)
        while view:
            count = os.pwrite(self.descriptor, view, offset)
            if not count:
                raise OSError(errno.EIO, "The file system takes no more bytes, and does not say why")
            view, offset = view[count:], offset + count

    def finish(self, key: str, size: int, modified_ns: int | None = None) -> None:
        """Check that the file has the promised size, set its modification time, and sync it if it is large.

        `key` is for the message. If `modified_ns` is None, the time is left alone. Raises AttemptError (11) for another
        size.
        """
        if self.size != size:
            message = f"{key}: {size} bytes were written, but the file has {self.size}"
            raise AttemptError(ExitCode.INTEGRITY, "ShortFile", message)
        if modified_ns is not None:
            os.utime(self.descriptor, ns=(modified_ns, modified_ns))
        if size >= SYNC_FROM:
            os.fsync(self.descriptor)

    def permit(self, mode: int) -> None:
        """Set the permissions."""
        os.fchmod(self.descriptor, mode)

    def place(self, tree: Tree, key: str) -> None:
        """Close the finished file and move it to the path of `key`, atomically."""
        self.close()
        tree.place(self.name, self.folder, key)

    def close(self) -> None:
        """Close the file. Another call does nothing, since another file may have got its number by then."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
