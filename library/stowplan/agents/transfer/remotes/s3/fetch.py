"""Fetch of one object: download, verification, and move to its path in the destination."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import SHOWN, AttemptError
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.files.draft import Draft
from stowplan.agents.transfer.parts import WHOLE, Extent, PartFile
from stowplan.agents.transfer.remotes.s3.checksum import Proof, from_headers
from stowplan.agents.transfer.remotes.s3.protocol.connections import Incoming
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object, Version, version_of
from stowplan.agents.transfer.remotes.s3.protocol.proof import is_encrypted
from stowplan.agents.transfer.remotes.s3.reader import Reader
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode

Write = Callable[[memoryview, int], None]
"""Function that gets bytes, valid only until it returns, and their offset in the file."""


@dataclass
class S3Fetcher:
    """Fetches objects. The fields are what all fetches share."""

    reader: Reader
    tree: Tree
    folder: ClaimFolder
    """Folder for incomplete files, on the file system of the destination."""
    work: TransferWork
    accept_unverified: bool = False
    """True if an object counts as copied although its ETag, which has the form of a digest, is none of its bytes."""
    _proofs: dict[str, Proof] = field(default_factory=dict)
    """Checksums of objects that are fetched in parts, by `S3Object.identity`."""

    def whole(self, entry: S3Object) -> None:
        """Fetch an object to its path by one request. Raises AttemptError: ChangedError for another version."""
        self.work.attempts.run(entry.key, lambda: self._whole(entry))
        self.work.progress.add(files=1, size=entry.size)

    def _whole(self, entry: S3Object) -> None:
        with Draft.new(self.folder, f"{entry.identity}{WHOLE}") as draft:
            with self.reader.whole(entry) as incoming:
                headers = incoming.headers
                proof = self.reader.prover.proof(entry, headers, entry.size or 1)
                self._receive(entry, Extent(0, 0, entry.size), incoming, proof, draft.write)
            proven = proof is not None and self._is_proven(entry, proof, draft.descriptor)
            draft.finish(entry.key, entry.size, entry.modified * 10**9)
            self.work.stop.check()
            draft.place(self.tree, entry.key)
        if not proven:
            self._unproven(entry, version_of(headers))

    def prepare(self, entry: S3Object, part_size: int) -> int:
        """Ask the server for the checksum of a large object, and return the part size in bytes to fetch it with.

        It is `part_size`, or a little less if parts must begin and end where the uploaded parts do.
        """
        self.reader.forget(entry)
        self._proofs.pop(entry.identity, None)
        headers = self.reader.prover.head(entry)
        proof = None if headers is None else self.reader.prover.proof(entry, headers, part_size)
        if proof is None:
            return part_size
        self._proofs[entry.identity] = proof
        return part_size - part_size % proof.piece or part_size

    def part(self, parts: PartFile[S3Object], extent: Extent) -> None:
        """Fetch one part of a large object into its file. Raises ChangedError if the object has changed."""

        def once() -> None:
            with self.reader.part(parts, extent) as incoming:
                proof = self._proofs.get(parts.entry.identity)
                self._receive(parts.entry, extent, incoming, proof, parts.draft.write)

        self.work.attempts.run(f"{parts.entry.key}, part {extent.number + 1}", once)
        parts.done(extent)
        self.work.progress.add(size=extent.end - extent.start)

    def complete(self, parts: PartFile[S3Object]) -> None:
        """Verify a file with all of its parts, and move it to its path. Raises AttemptError: 11 for a bad checksum."""
        entry = parts.entry
        descriptor = parts.finish(entry.modified)
        proof = self._proofs.pop(entry.identity, None)
        proven = proof is not None and self._is_proven(entry, proof, descriptor)
        self.work.stop.check()
        parts.place(self.tree)
        self.work.progress.add(files=1)
        if not proven:
            self._unproven(entry, self.reader.forget(entry))

    def _is_proven(self, entry: S3Object, proof: Proof, descriptor: int) -> bool:
        """Return whether a checksum proves the bytes of an open file. Raises AttemptError (11) if one disproves them.

        An ETag with the form of a digest need not be one, so it disproves nothing alone.
        """
        checksum, found = proof.checksum, proof.found(descriptor, self.work.stop.check)
        if found == checksum.value:
            return True
        if not checksum.of_etag:
            message = f"{entry.key}: the {checksum.algorithm} of its bytes is {found.hex()}, but the server says "
            raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message + checksum.value.hex())
        headers = self.reader.prover.head(entry) or {}
        second = self.reader.prover.proof(entry, headers, entry.size or 1) if from_headers(headers) else None
        if second:
            return self._is_proven(entry, second, descriptor)
        if is_encrypted(headers) or (self.accept_unverified and self._comes_again(entry, proof, found)):
            return False
        message = (
            f"{entry.key}: the md5 of its bytes is {found.hex()}, but its ETag says {checksum.value.hex()}. If ETags of"
            " this store are no digests, `acceptUnverified: true` of the source accepts what comes twice alike"
        )
        raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message)

    def _comes_again(self, entry: S3Object, proof: Proof, found: bytes) -> bool:
        """Fetch an object once more, and return whether its bytes have the same checksum as those before."""
        again = replace(proof, _known={})
        with self.reader.whole(entry) as incoming:
            self._receive(entry, Extent(0, 0, entry.size), incoming, again, lambda *_: None)
        return again.found(-1, self.work.stop.check) == found

    def _receive(self, entry: S3Object, extent: Extent, incoming: Incoming, proof: Proof | None, write: Write) -> None:
        """Pass the bytes of an answer, with their offsets, to `write`, and their checksums to `proof`."""
        offset, watch = extent.start, proof.watch(extent) if proof else None
        for data in self.reader.body(entry, extent.end - extent.start, incoming):
            write(data, offset)
            offset += len(data)
            if watch:
                watch.update(data)
        if watch:
            watch.end()

    def _unproven(self, entry: S3Object, version: Version) -> None:
        """Count a copied file that no checksum proves, and tell it of the first ones."""
        log, progress = self.work.log, self.work.progress
        progress.unverified()
        if progress.files_unverified > SHOWN:
            return
        log.warning("The server gives no checksum that can be computed: length and ETag count", key=entry.key)
        if not version.is_known:
            log.warning("The server gives neither ETags nor times: a change meanwhile is not seen", key=entry.key)
