"""Upload of one file, in one request or in parts. Parts of an unfinished upload are reused."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from stowplan.agents.attempt.failure import AttemptError, StoppedError, contained, of_system
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.remotes.s3.checksum import digest_of, new_digest
from stowplan.agents.transfer.remotes.s3.protocol import multipart
from stowplan.agents.transfer.remotes.s3.protocol.keeper import ALGORITHM, HEADER, Keeper, check_kept, text_of
from stowplan.agents.transfer.remotes.s3.protocol.multipart import Ongoing, Stored, UnfinishedUpload
from stowplan.agents.transfer.remotes.s3.protocol.proof import MOST_PARTS
from stowplan.agents.transfer.thread_pool import Countdown
from stowplan.agents.transfer.tree import BLOCK, Found, Tree, blocks
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True)
class Section:
    """Range of an open file as the body of a request. At most `BLOCK` bytes of it are in memory."""

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
        """Checksum by `keeper.ALGORITHM`, not encoded, that the store is to keep."""
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
        left = self.size
        for data in blocks(self.descriptor, self.check, self.offset, self.offset + self.size):
            yield data
            left -= len(data)
        if left:
            self.check()
            raise AttemptError(ExitCode.TRANSIENT, "FileChanged", "A file became shorter while it was read")


COMMON_PARTS = tuple(size << 20 for size in (5, 8, 16, 32, 64))
"""Part sizes in bytes that other programs use for multipart uploads."""


@dataclass
class Sender:
    """Objects that all uploads of files share, and uploads in one request."""

    keeper: Keeper
    tree: Tree
    work: TransferWork

    def whole(self, found: Found, key: str) -> None:
        """Send a file in one request, to a full key. The server compares the data with its digest in the signature."""

        with self.reading(found) as descriptor:
            # A small file is read once, a larger one for its digest and for each try.
            data = self.section(descriptor, found, 0, found.size)
            body = b"".join(data.chunks()) if found.size <= BLOCK else data
            checksum = digest_of(ALGORITHM, body) if isinstance(body, bytes) else body.checksum
            response = self.keeper.call("PUT", key, body=body, headers={HEADER: text_of(checksum)})
            check_kept(key, checksum, response.headers.get(HEADER, ""))
        self.work.progress.add(files=1, size=found.size)

    def section(self, descriptor: int, found: Found, offset: int, size: int) -> Section:
        """Return a range of an open file as a request body, whose reads fail if the file has changed since `found`."""

        def check() -> None:
            self.work.stop.check()
            found.check_unchanged(descriptor)

        return Section(descriptor, offset, size, check)

    @contextmanager
    def reading(self, found: Found) -> Iterator[int]:
        """Open a file and yield its descriptor.

        Raises AttemptError if its size or time differs from `found`, at the beginning or at the end of the block.
        """
        try:
            descriptor = self.tree.reader(found.real)
        except OSError as error:
            raise of_system(error, found.key) from None
        try:
            found.check_unchanged(descriptor)
            yield descriptor
            found.check_unchanged(descriptor)
        finally:
            os.close(descriptor)

    def is_same(self, found: Found, etag: str, part_size: int) -> bool:
        """Return whether an object with this ETag has the same bytes as the file.

        An ETag of a multipart upload is compared for parts of `part_size` bytes and of each size in `COMMON_PARTS`.
        Another part size gives False.
        """
        digest, _, count = etag.strip('"').partition("-")
        sizes = [found.size or 1] if not count else dict.fromkeys((part_size, *COMMON_PARTS))
        with self.reading(found) as descriptor:
            for size in sizes:
                pieces = -(-found.size // size) or 1
                if count and count != str(pieces):
                    continue
                extents = [(number * size, min(size, found.size - number * size)) for number in range(pieces)]
                digests = [self.section(descriptor, found, *each).digests("md5")[0] for each in extents]
                own = digest_of("md5", b"".join(digests)) if count else digests[0]
                if own.hex() == digest.lower():
                    return True
        return False


@dataclass
class UploadInParts:
    """Multipart upload of one large file, whose parts are separate tasks. The last task to end completes the object.

    `ended` is then called in its thread with the first error of any part, or None; it is not called after a
    StoppedError. `key` is the full key, `part_size` the size in bytes of the parts of a new upload.
    """

    sender: Sender
    found: Found
    key: str
    part_size: int
    begun: UnfinishedUpload | None
    """Unfinished upload of an earlier attempt, whose parts are reused if they match the file; None if there is none."""
    ended: Callable[[Exception | None], None]
    _parts: dict[int, Stored] = field(default_factory=dict)
    """Parts of this upload by number, counted from 1."""
    _there: dict[int, Stored] = field(default_factory=dict)
    """Parts that an earlier attempt sent, by number."""
    upload: Ongoing = field(init=False)
    """The upload from `begin` on."""

    def begin(self) -> range:
        """Start or continue the upload, and return the numbers of all parts. Call `send` once with each of them then.

        Raises AttemptError and OSError; then `ended` is not called.
        """
        keeper = self.sender.keeper
        self._descriptor = self.sender.tree.reader(self.found.real)
        try:
            self.found.check_unchanged(self._descriptor)
            if self.begun:
                self.upload, there = multipart.stored(keeper.client, self.key, self.begun.id)
                self._there = self._usable(there)
            if self._there:
                # The first part determines the part size, whatever the present configuration.
                self.part_size = self._there[1].size if 1 in self._there else self.part_size
                self.sender.work.log.info("Goes on with an upload", key=self.key, parts=len(self._there))
            else:
                self.upload = multipart.begin(keeper, self.key)
        except BaseException:
            os.close(self._descriptor)
            raise
        count = -(-self.found.size // self.part_size)
        self._countdown = Countdown(count, self._end)
        return range(1, count + 1)

    def _usable(self, there: dict[int, Stored]) -> dict[int, Stored]:
        """Return `there`; an empty dict if the size of its first part would divide the file into too many parts."""
        size = there[1].size if 1 in there else self.part_size
        return there if size and -(-self.found.size // size) <= MOST_PARTS else {}

    def send(self, number: int) -> None:
        """Send one part, as a task of the thread pool, unless an earlier attempt sent the same bytes."""
        self._countdown.run(partial(self._send, number))

    def _send(self, number: int) -> None:
        self.sender.work.stop.check()
        offset = (number - 1) * self.part_size
        size = min(self.part_size, self.found.size - offset)
        data = self.sender.section(self._descriptor, self.found, offset, size)
        stored = self._there.get(number)
        if stored and stored.size == size:
            md5, checksum = data.digests("md5", ALGORITHM)
            if stored.etag.strip('"') == md5.hex():
                self._parts[number] = replace(stored, checksum=checksum)
                self.sender.work.progress.add(resumed=size)
                return
        self._parts[number] = multipart.send(self.sender.keeper.client, self.upload, number, data, data.checksum)
        self.sender.work.progress.add(size=size)

    def _end(self, error: Exception | None) -> None:
        try:
            if error is None:
                self.found.check_unchanged(self._descriptor)
                multipart.complete(self.sender.keeper.client, self.upload, self._parts)
                self.sender.work.progress.add(files=1)
        except BaseException as failure:
            error = contained(failure)
        finally:
            os.close(self._descriptor)
        if not isinstance(error, StoppedError):
            self.ended(error)
