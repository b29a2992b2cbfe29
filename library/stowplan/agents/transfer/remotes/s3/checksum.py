"""Checksums of objects as S3 defines them, combined from the checksums of pieces that may arrive in any order.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
"""

import hashlib
import os
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stowplan.agents.transfer.parts import Extent

CHUNK = 1 << 18


class Digest(Protocol):
    """Running checksum."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Add bytes to the checksum."""

    def digest(self) -> bytes:
        """Return the checksum of all bytes."""


class Crc32:
    """CRC-32 with the interface of a digest of hashlib."""

    def __init__(self) -> None:
        self._value = 0

    def update(self, data: bytes | memoryview, /) -> None:
        self._value = zlib.crc32(data, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(4, "big")


_DIGESTS: Mapping[str, Callable[[], Digest]] = {
    "crc32": Crc32,
    "sha1": lambda: hashlib.sha1(usedforsecurity=False),
    "sha256": hashlib.sha256,
    "md5": lambda: hashlib.md5(usedforsecurity=False),
}
"""Constructors by algorithm, cheapest first. Python has no fast code for other algorithms of S3."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """Checksum of an object that the server gave."""

    algorithm: str
    value: bytes
    of_pieces: bool = False
    """True if it is the checksum of the checksums of the uploaded parts, False if it is the checksum of the bytes."""


def from_headers(headers: Mapping[str, str]) -> Checksum | None:
    """Return the cheapest checksum in the headers `x-amz-checksum-*`; None if none can be computed."""
    for algorithm in _DIGESTS:
        text, dash, _ = headers.get(f"x-amz-checksum-{algorithm}", "").partition("-")
        if text:
            of_pieces = bool(dash) or headers.get("x-amz-checksum-type") == "COMPOSITE"
            try:
                return Checksum(algorithm, b64decode(text), of_pieces)
            except ValueError:
                return None
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
        """Return an object that computes the checksums of the pieces in a part; None if the part cuts a piece."""
        whole = extent.start % self.piece == 0 and (extent.end % self.piece == 0 or extent.end == self.size)
        return PieceChecksums(self, extent.start // self.piece) if whole else None

    def new(self) -> Digest:
        """Return an empty digest of the object's algorithm."""
        return _DIGESTS[self.checksum.algorithm]()

    def learn(self, number: int, digest: bytes) -> None:
        """Record the checksum of a piece, counted from 0."""
        self._known[number] = digest

    def found(self, descriptor: int, check: Callable[[], None]) -> bytes:
        """Return the checksum of an open file, to compare with `checksum.value`.

        Pieces whose checksum is not recorded are read. `check` is called between reads, and may raise to end the work.
        """
        count = -(-self.size // self.piece) or 1
        for number in range(count):
            if number not in self._known:
                digest = self.new()
                for data in _read(descriptor, number * self.piece, min(self.size, (number + 1) * self.piece)):
                    check()
                    digest.update(data)
                self.learn(number, digest.digest())
        return self._joined([self._known[number] for number in range(count)])

    def _joined(self, digests: list[bytes]) -> bytes:
        if self.checksum.of_pieces:
            digest = self.new()
            digest.update(b"".join(digests))
            return digest.digest()
        joined = int.from_bytes(digests[0], "big")
        for number, each in enumerate(digests[1:], 1):
            length = min(self.piece, self.size - number * self.piece)
            joined = joined_crc32(joined, int.from_bytes(each, "big"), length)
        return joined.to_bytes(4, "big") if len(digests) > 1 else digests[0]


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


def _read(descriptor: int, begin: int, end: int) -> Iterator[bytes]:
    while begin < end and (data := os.pread(descriptor, min(CHUNK, end - begin), begin)):
        yield data
        begin += len(data)


_POLYNOMIAL = 0xEDB88320
"""Polynomial of CRC-32 with the highest power of x in the last bit."""

_ONE = 1 << 31
"""The polynomial 1 in the same form."""


def joined_crc32(first: int, second: int, length: int) -> int:
    """Return the CRC-32 of two concatenated byte strings, from both CRCs and the second one's length in bytes."""
    power, factor = _ONE, _ONE >> 8
    while length:
        if length & 1:
            power = _product(power, factor)
        factor = _product(factor, factor)
        length >>= 1
    return _product(power, first) ^ second


def _product(one: int, other: int) -> int:
    """Return the product of two polynomials over GF(2), modulo the polynomial of CRC-32.

    A polynomial is a number of 32 bits whose lowest bit is the coefficient of x^31.
    """
    found = 0
    for bit in range(31, -1, -1):
        if one >> bit & 1:
            found ^= other
        other = (other >> 1) ^ (_POLYNOMIAL if other & 1 else 0)
    return found
