"""Checksums of objects as S3 defines them, combined from the checksums of pieces that may arrive in any order.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
"""

import hashlib
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from anycrc import Model

from stowplan.agents.transfer.parts import Extent
from stowplan.agents.transfer.tree import blocks

_COUNT = re.compile(r"[0-9]{1,5}")


class Digest(Protocol):
    """Running checksum."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Add bytes to the checksum."""

    def digest(self) -> bytes:
        """Return the checksum of all bytes."""


CRCS = {"crc64nvme": (Model("CRC64-NVME"), 8), "crc32c": (Model("CRC32-ISCSI"), 4), "crc32": (Model("CRC32"), 4)}
"""Checksums of S3 that can be combined from those of pieces, with their sizes in bytes.

A model computes them with the instructions of the processor.
"""


def joined(algorithm: str, first: bytes, second: bytes, length: int) -> bytes:
    """Return the checksum of two joined strings from both checksums and the second one's length in bytes.

    `algorithm` is a key of `CRCS`.
    """
    model, size = CRCS[algorithm]
    return int(model.combine(int.from_bytes(first, "big"), int.from_bytes(second, "big"), length)).to_bytes(size, "big")


class Crc:
    """Running cyclic redundancy check. `model` and `size` are one pair of `CRCS`. The digest is big-endian."""

    def __init__(self, model: Model, size: int) -> None:
        self._model, self._size, self._value = model, size, 0

    def update(self, data: bytes | memoryview, /) -> None:
        self._value = self._model.calc(data, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(self._size, "big")


_DIGESTS: Mapping[str, Callable[[], Digest]] = {
    **{name: partial(Crc, *kind) for name, kind in CRCS.items()},
    "sha1": partial(hashlib.sha1, usedforsecurity=False),
    "sha256": hashlib.sha256,
    "sha512": hashlib.sha512,
    "md5": partial(hashlib.md5, usedforsecurity=False),
}
"""Constructors by algorithm, cheapest first. The algorithms are those of S3, without XXHash."""

_SIZES = {algorithm: len(new().digest()) for algorithm, new in _DIGESTS.items()}


def new_digest(algorithm: str) -> Digest:
    """Return an empty digest by its name: a key of `CRCS`, `sha1`, `sha256`, `sha512` or `md5`. KeyError for others."""
    return _DIGESTS[algorithm]()


def digest_of(algorithm: str, data: bytes) -> bytes:
    """Return the checksum of bytes, not encoded. `algorithm` is a name as for `new_digest`."""
    digest = new_digest(algorithm)
    digest.update(data)
    return digest.digest()


@dataclass(frozen=True, slots=True)
class Checksum:
    """Checksum of an object that the server gave."""

    algorithm: str
    """Its name as in S3, in lower case, such as `crc64nvme`."""
    value: bytes
    """The decoded bytes; those of a CRC are big-endian."""
    of_pieces: bool = False
    """True if it is the checksum of the checksums of the uploaded parts, False if it is the checksum of the bytes."""
    pieces: int = 0
    """Number of the uploaded parts, if the server said it with the checksum; otherwise 0."""
    of_etag: bool = False
    """True if it is an ETag that has the form of a checksum, which need not be one."""


def from_headers(headers: Mapping[str, str]) -> Checksum | None:
    """Return the cheapest checksum in headers `x-amz-checksum-*`, by lower-case name; None if none is computable."""
    for algorithm, size in _SIZES.items():
        text, dash, count = headers.get(f"x-amz-checksum-{algorithm}", "").partition("-")
        of_pieces = bool(dash) or headers.get("x-amz-checksum-type") == "COMPOSITE"
        try:
            value = b64decode(text, validate=True)
        except ValueError:
            continue
        if len(value) == size:
            return Checksum(algorithm, value, of_pieces, int(count) if _COUNT.fullmatch(count) else 0)
    return None


@dataclass
class Proof:
    """Checksum of one object from the server, and checksums of its pieces so far. Any thread may add pieces."""

    checksum: Checksum
    size: int
    """Size of the object in bytes."""
    piece: int
    """Size in bytes of each piece except the last."""
    _known: dict[int, bytes] = field(default_factory=dict)

    def watch(self, extent: Extent) -> "PieceChecksums | None":
        """Return an object that takes a part's bytes and records its pieces' checksums; None if it cuts a piece."""
        whole = extent.start % self.piece == 0 and (extent.end % self.piece == 0 or extent.end == self.size)
        return PieceChecksums(self, extent.start // self.piece) if whole else None

    def new(self) -> Digest:
        """Return an empty digest of the object's algorithm."""
        return new_digest(self.checksum.algorithm)

    def learn(self, number: int, digest: bytes) -> None:
        """Record the checksum, not encoded, of the piece with this number, from 0."""
        self._known[number] = digest

    def found(self, descriptor: int, check: Callable[[], None]) -> bytes:
        """Return the checksum of an open file, to compare with `checksum.value`.

        Pieces whose checksum is not recorded are read. `check` is called between reads, and may raise to end the work.
        """
        count = -(-self.size // self.piece) or 1
        for number in range(count):
            if number not in self._known:
                digest = self.new()
                begin = number * self.piece
                for data in blocks(descriptor, check, begin, min(self.size, begin + self.piece)):
                    digest.update(data)
                self.learn(number, digest.digest())
        return self._joined([self._known[number] for number in range(count)])

    def _joined(self, digests: list[bytes]) -> bytes:
        if self.checksum.of_pieces:
            digest = self.new()
            digest.update(b"".join(digests))
            return digest.digest()
        whole = digests[0]
        for number, each in enumerate(digests[1:], 1):
            length = min(self.piece, self.size - number * self.piece)
            whole = joined(self.checksum.algorithm, whole, each, length)
        return whole


class PieceChecksums:
    """Computes the checksums of consecutive pieces, from piece `number` on, and records them in `proof`."""

    def __init__(self, proof: Proof, number: int) -> None:
        self._proof, self._number = proof, number
        self._begin()

    def update(self, data: memoryview) -> None:
        """Add the next bytes."""
        while data:
            part = data[: self._left]
            self._digest.update(part)
            self._left -= len(part)
            data = data[len(part) :]
            if not self._left:
                self._close()

    def end(self) -> None:
        """Record the last piece, which may be shorter. Call this after the last bytes."""
        if self._left < self._proof.piece:
            self._close()

    def _begin(self) -> None:
        self._digest, self._left = self._proof.new(), self._proof.piece

    def _close(self) -> None:
        self._proof.learn(self._number, self._digest.digest())
        self._number += 1
        self._begin()
