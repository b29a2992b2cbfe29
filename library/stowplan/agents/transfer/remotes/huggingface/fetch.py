"""Fetch of one file: download, verification, and move to its path in the destination."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.files.draft import Draft
from stowplan.agents.transfer.parts import WHOLE, Extent, PartFile
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.remotes.huggingface.known import Known
from stowplan.agents.transfer.tree import Tree, blocks
from stowplan.schema.agents.exit_codes import ExitCode

if TYPE_CHECKING:
    from hashlib import _Hash

Read = Callable[[RemoteFile, int, int], Iterator[bytes]]
"""Function that yields the bytes of a file from the first offset to before the second one."""


@dataclass
class HubFetcher:
    """Fetches files. The fields are what all fetches share."""

    read: Read
    tree: Tree
    folder: ClaimFolder
    """Folder for incomplete files, on the file system of the destination."""
    known: Known
    work: TransferWork
    _digests: dict[str, "OrderedDigest"] = field(default_factory=dict)

    def whole(self, file: RemoteFile) -> None:
        """Fetch a file in one request. Raises AttemptError if that fails."""
        self.work.attempts.run(file.key, lambda: self._whole(file))
        self.work.progress.add(files=1, size=file.size)

    def _whole(self, file: RemoteFile) -> None:
        digest, offset = file.hasher(), 0
        with Draft.new(self.folder, f"{file.identity}{WHOLE}") as draft:
            for data in self._bytes(file, 0, file.size):
                draft.write(data, offset)
                offset += len(data)
                digest.update(data)
            _verify(file, digest)
            draft.finish(file.key, file.size)
            self.work.stop.check()
            status = draft.status
            draft.place(self.tree, file.key)
        self.known.add(file.key, file.digest, status)

    def part(self, parts: PartFile[RemoteFile], extent: Extent) -> None:
        """Fetch the bytes of `extent` of a large file, and write them to `parts`."""

        def once() -> None:
            offset = extent.start
            for data in self._bytes(parts.entry, extent.start, extent.end):
                parts.draft.write(data, offset)
                offset += len(data)

        self.work.attempts.run(f"{parts.entry.key}, part {extent.number + 1}", once)
        parts.done(extent)
        self.work.progress.add(size=extent.end - extent.start)
        self._digest(parts).advance()

    def complete(self, parts: PartFile[RemoteFile]) -> None:
        """Verify a file with all of its parts, and move it to its path. Raises AttemptError (11) for another digest."""
        digest = self._digest(parts).finish(self.work.stop.check)
        self._digests.pop(parts.entry.identity, None)
        _verify(parts.entry, digest)
        parts.finish()
        self.work.stop.check()
        status = parts.draft.status
        parts.place(self.tree)
        self.known.add(parts.entry.key, parts.entry.digest, status)
        self.work.progress.add(files=1)

    def _digest(self, parts: PartFile[RemoteFile]) -> "OrderedDigest":
        """Return the running digest of a file that is fetched in parts."""
        return self._digests.setdefault(parts.entry.identity, OrderedDigest(parts))

    def _bytes(self, file: RemoteFile, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a file from `start` to before `end`. Raises AttemptError (11) if more or fewer come."""
        count = 0
        for data in self.read(file, start, end):
            self.work.stop.check()
            count += len(data)
            if count > end - start:
                break
            yield data
        if count != end - start:
            message = f"{file.key}: the server sent {count} bytes of {end - start}"
            raise AttemptError(ExitCode.INTEGRITY, "WrongLength", message)


class OrderedDigest:
    """Running digest of a file whose parts arrive in any order. It reads them from disk in the order of the file."""

    def __init__(self, parts: PartFile[RemoteFile]) -> None:
        self._parts = parts
        self._digest = parts.entry.hasher()
        self._offset = 0
        self._lock = threading.Lock()

    def advance(self) -> None:
        """Add all bytes before the first missing part to the digest, unless another thread is doing so."""
        if self._lock.acquire(blocking=False):
            try:
                self._read_to(self._parts.begun)
            finally:
                self._lock.release()

    def finish(self, check: Callable[[], None]) -> "_Hash":
        """Add all remaining bytes and return the digest. `check` is called between reads, and may raise."""
        with self._lock:
            self._read_to(self._parts.entry.size, check)
        return self._digest

    def _read_to(self, end: int, check: Callable[[], None] = lambda: None) -> None:
        for data in blocks(self._parts.draft.descriptor, check, self._offset, end):
            self._digest.update(data)
            self._offset += len(data)


def _verify(file: RemoteFile, digest: "_Hash") -> None:
    if not file.is_of(digest):
        message = f"{file.key}: the digest of its bytes is {digest.hexdigest()}, but it must be {file.digest}"
        raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message)
