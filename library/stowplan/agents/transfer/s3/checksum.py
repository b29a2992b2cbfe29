"""Checksums of objects as stores keep them, put together from those of pieces, so that parts may come in any order.

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
    """The running checksum of some bytes."""

    def update(self, data: bytes | memoryview, /) -> None:
        """More bytes."""

    def digest(self) -> bytes:
        """The checksum of all of them."""


class Crc32:
    """CRC-32 in the form of a digest."""

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
"""What Python computes fast; the cheapest comes first."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """What the store says of an object."""

    algorithm: str
    value: bytes
    of_pieces: bool = False
    """Whether it is the checksum of the checksums of the pieces, and not of the bytes themselves."""


def from_headers(headers: Mapping[str, str]) -> Checksum | None:
    """The cheapest checksum among the headers `x-amz-checksum-*` of an answer; None for none that can be computed."""
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
    """The checksum of one object, and those of its pieces as far as they are known. Threads may add to it."""

    checksum: Checksum
    size: int
    piece: int
    """Bytes of each piece but the last."""
    _known: dict[int, bytes] = field(default_factory=dict)

    def watch(self, extent: Extent) -> "Watch | None":
        """Takes the checksums of the pieces of a part while it comes; None if it does not begin and end with one."""
        whole = extent.start % self.piece == 0 and (extent.end % self.piece == 0 or extent.end == self.size)
        return Watch(self, extent.start // self.piece) if whole else None

    def new(self) -> Digest:
        return _DIGESTS[self.checksum.algorithm]()

    def learn(self, number: int, digest: bytes) -> None:
        """The checksum of a piece, counted from 0."""
        self._known[number] = digest

    def found(self, descriptor: int, check: Callable[[], None]) -> bytes:
        """The checksum of the file, of which pieces are read that did not come under a watch. `check` may raise."""
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


class Watch:
    """Takes the checksums of pieces that come one behind the other."""

    def __init__(self, proof: Proof, number: int) -> None:
        self._proof, self._number = proof, number
        self._begin()

    def update(self, data: memoryview) -> None:
        """More bytes."""
        while data:
            part = data[: self._left]
            self._digest.update(part)
            self._left -= len(part)
            data = data[len(part) :]
            if not self._left:
                self._close()

    def end(self) -> None:
        """All bytes have come."""
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
"""Of CRC-32, the bit of the highest power of x last."""

_ONE = 1 << 31


def joined_crc32(first: int, second: int, length: int) -> int:
    """The CRC-32 of two texts one behind the other, from that of each and the length of the second in bytes."""
    power, factor = _ONE, _ONE >> 8
    while length:
        if length & 1:
            power = _product(power, factor)
        factor = _product(factor, factor)
        length >>= 1
    return _product(power, first) ^ second


def _product(one: int, other: int) -> int:
    """Of two polynomials over the field of two elements, modulo that of CRC-32."""
    found = 0
    for bit in range(31, -1, -1):
        if one >> bit & 1:
            found ^= other
        other = (other >> 1) ^ (_POLYNOMIAL if other & 1 else 0)
    return found
