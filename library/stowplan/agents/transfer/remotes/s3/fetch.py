"""Fetch of one object: download, verification, and move to its path in the destination."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.files.draft import Draft
from stowplan.agents.transfer.network.retry import Attempts
from stowplan.agents.transfer.parts import WHOLE, Extent, PartFile
from stowplan.agents.transfer.remotes.s3.checksum import Proof
from stowplan.agents.transfer.remotes.s3.protocol.connections import Incoming
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.agents.transfer.remotes.s3.protocol.failure import ChangedError
from stowplan.agents.transfer.remotes.s3.protocol.proof import is_encrypted, proof_of
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import Wire
from stowplan.agents.transfer.remotes.s3.source import head
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode

_OTHER = (404, 412, 416)
"""Status codes that mean that the server no longer has the listed version of an object."""

CHUNK = 1 << 19
"""Maximum bytes of an object that a thread has in memory, whatever the size of the object."""


@dataclass
class Fetcher:
    """Fetches objects. The fields are what all fetches share."""

    wire: Wire
    prefix: str
    """Prefix of the transfer in the bucket; the full key of an object is `prefix` plus its key."""
    tree: Tree
    folder: ClaimFolder
    """Folder for incomplete files, on the file system of the destination."""
    attempts: Attempts
    progress: Progress
    log: Log
    verify_parts: bool = False
    """True if objects for which the store has only an ETag of a multipart upload are verified by it, which is slow."""
    etags_are_md5: bool = True
    """False once the server has reported encryption with its own keys, which changes ETags."""
    _proofs: dict[str, Proof] = field(default_factory=dict)
    """Checksums of objects that are fetched in parts, by `S3Object.identity`."""

    def whole(self, entry: S3Object) -> None:
        """Fetch an object in one request. Raises AttemptError, and ChangedError if it has changed since the listing."""
        name = f"{entry.identity}{WHOLE}"
        self.attempts.run(entry.key, lambda: self._whole(entry, name))
        self.progress.add(files=1, size=entry.size)

    def _whole(self, entry: S3Object, name: str) -> None:
        digest, offset = hashlib.md5(usedforsecurity=False), 0
        with Draft.new(self.folder, name) as draft:
            for data in self._bytes(entry):
                draft.write(data, offset)
                offset += len(data)
                if self.etags_are_md5:
                    digest.update(data)
            self._verify(entry, digest.hexdigest())
            draft.finish(entry.key, entry.size, entry.modified * 10**9)
            self.attempts.stop.check()
            draft.place(self.tree, entry.key)

    def prepare(self, entry: S3Object, part_size: int) -> int:
        """Ask the server for the checksum of a large object, and return the part size in bytes to fetch it with.

        It is `part_size`, or a little less if parts must begin and end where the uploaded parts do.
        """
        proof = proof_of(self.wire, self.prefix + entry.key, entry, part_size, parts=self.verify_parts)
        self._proofs.pop(entry.identity, None)
        if proof is None:
            self.log.info("The server gives no checksum that can be computed: length and ETag count", key=entry.key)
            return part_size
        self._proofs[entry.identity] = proof
        return part_size - part_size % proof.piece or part_size

    def part(self, parts: PartFile[S3Object], extent: Extent) -> None:
        """Fetch one part of a large object into its file. Raises ChangedError if the object has changed."""

        def once() -> None:
            offset = extent.start
            proof = self._proofs.get(parts.entry.identity)
            watch = proof.watch(extent) if proof else None
            for data in self._bytes(parts.entry, extent):
                parts.write(data, offset)
                offset += len(data)
                if watch:
                    watch.update(data)
            if watch:
                watch.end()

        self.attempts.run(f"{parts.entry.key}, part {extent.number + 1}", once)
        parts.done(extent)
        self.progress.add(size=extent.end - extent.start)

    def complete(self, parts: PartFile[S3Object]) -> None:
        """Verify a file of which all parts are present, and move it to its path in the destination."""
        descriptor = parts.finish(parts.entry.modified)
        if proof := self._proofs.pop(parts.entry.identity, None):
            found = proof.found(descriptor, self.attempts.stop.check)
            self._judge(parts.entry, proof, found)
        self.attempts.stop.check()
        parts.place(self.tree)
        self.progress.add(files=1)

    def now(self, entry: S3Object) -> S3Object:
        """Ask the server for the present version of the object. Raises AttemptError if the object no longer exists."""
        found, _ = head(self.wire, self.prefix + entry.key)
        if found is None:
            raise _gone(entry)
        return S3Object(entry.key, found.size, found.etag, found.modified)

    def _bytes(self, entry: S3Object, extent: Extent | None = None) -> Iterator[memoryview]:
        """Yield the bytes of an object, or of the part `extent`. Each yielded view is valid only until the next one.

        Raises AttemptError (11) if the server sends more or fewer bytes.
        """
        size = extent.end - extent.start if extent else entry.size
        buffer, left = memoryview(bytearray(min(CHUNK, size) or 1)), size
        headers = {"range": f"bytes={extent.start}-{extent.end - 1}"} if extent else {}
        headers |= {"if-match": entry.etag} if entry.etag else {}
        with self.wire.reading(self.prefix + entry.key, headers, _OTHER, size) as incoming:
            _check_answer(entry, extent, incoming)
            while left and (count := incoming.fill(buffer[:left])):
                self.attempts.stop.check()
                self.wire.throttle.moved(count)
                left -= count
                yield buffer[:count]
            more = incoming.fill(buffer[:1])
        _check_length(entry, size - left + more, size)

    def _verify(self, entry: S3Object, digest: str) -> None:
        if not self.etags_are_md5 or entry.md5 in (None, digest):
            return
        response = self.wire.call("HEAD", self.prefix + entry.key, accepted=(404, 412))
        if is_encrypted(response.headers):
            self.etags_are_md5 = False
            self.log.info("The server's ETags are no digests: lengths are verified alone", key=entry.key)
            return
        message = f"{entry.key}: the digest of its bytes is {digest}, but its ETag says {entry.md5}"
        raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message)

    def _judge(self, entry: S3Object, proof: Proof, found: bytes) -> None:
        if found != proof.checksum.value:
            name, said = proof.checksum.algorithm, proof.checksum.value.hex()
            message = f"{entry.key}: the {name} of its bytes is {found.hex()}, but the server says {said}"
            raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message)


def _check_answer(entry: S3Object, extent: Extent | None, incoming: Incoming) -> None:
    """Raise ChangedError if the object has changed, and AttemptError if it is gone or another range was sent."""
    if incoming.status == 404:
        raise _gone(entry)
    headers = incoming.headers
    sent_range, _, size = headers.get("content-range", "").partition("/")
    size = size if extent else headers.get("content-length", "")
    if incoming.status in _OTHER or (size.isdecimal() and int(size) != entry.size):
        raise ChangedError(entry.key)
    if sent_range != (f"bytes {extent.start}-{extent.end - 1}" if extent else ""):
        message = (
            f"{entry.key}: the server sent {sent_range[:100] or 'no range'} instead of the bytes that were asked for"
        )
        raise AttemptError(ExitCode.TRANSIENT, "WrongRange", message)


def _gone(entry: S3Object) -> AttemptError:
    return AttemptError(ExitCode.TRANSIENT, "ObjectGone", f"{entry.key} was listed but is not there any more")


def _check_length(entry: S3Object, count: int, expected: int) -> None:
    if count != expected:
        message = f"{entry.key}: the server sent {count} bytes of {expected}"
        raise AttemptError(ExitCode.INTEGRITY, "WrongLength", message)


def is_spoilt(error: Exception) -> bool:
    """Return whether an error shows that the fetched parts are useless: the object has changed, or they are damaged."""
    return isinstance(error, ChangedError) or (isinstance(error, AttemptError) and error.code is ExitCode.INTEGRITY)
