"""Which files of a destination its syncs have brought, and which sources these are from.

A file in the state directory, the same for all syncs to one destination: a line of JSON with the sources of each owner,
then the base64 of entries of `ENTRY` bytes in ascending order. An entry is a hash of a key, and the tag of the owner
that brought it last. An owner is a dataset or a SampleJob: what one has brought, the move of another one's source does
not touch. The sources are the one of its last complete sync, and those of syncs that have begun since.
"""

import hashlib
import heapq
import json
import struct
from array import array
from base64 import b64encode
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from stowplan.agents.attempt.safe_files import json_object
from stowplan.agents.cache.drivers.juicefs.listing.record import entries_of

SUFFIX = "-brought"
"""What the name of the file has after that of the record of versions."""

MOST = 1_000_000
"""Maximum number of files of a record. For a larger destination none is kept."""

LARGEST_HEADER = 64 << 10

_ENTRY = struct.Struct(">Q4s")
ENTRY = _ENTRY.size

LARGEST = LARGEST_HEADER + 4 * (MOST * ENTRY // 3 + 1)
"""Maximum size of the file in bytes."""


def number_of(order: bytes) -> int:
    """Return the hash of a key, as a number of 64 bits. `order` is `Entry.order`, the bytes of the key."""
    return int.from_bytes(hashlib.blake2s(order, digest_size=8).digest())


@dataclass(frozen=True)
class BroughtHashes:
    """Record of which files syncs brought, as one owner sees it that copies from one source. `read` makes it."""

    owner: str
    """Tag of the owner: 8 hexadecimal digits."""
    source: str
    """Hash of the URL of the source."""
    sources: Mapping[str, frozenset[str]]
    """Hashes of the URLs of the sources, by the tag of their owner."""
    entries: bytes = b""

    @classmethod
    def read(cls, content: bytes | None, owner: str, source: str) -> "BroughtHashes":
        """Parse the content of the file; an empty record if there is none, or if it is invalid: others may write it.

        `owner` is the name of the owner, such as `Dataset/ml/imagenet`, and `source` the URL: both are hashed here.
        """
        source_hash = hashlib.blake2s(source.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        own = (hashlib.blake2s(owner.encode(), digest_size=4).hexdigest(), source_hash)
        header, _, rest = (content or b"").partition(b"\n")
        sources, entries = _sources(json_object(header) or {}), entries_of(rest, ENTRY)
        if sources is None or entries is None or not _is_sorted(entries):
            return cls(*own, {})
        return cls(*own, sources, entries)

    def content(self) -> bytes:
        """Return the content of the file."""
        sources = {owner: sorted(found) for owner, found in sorted(self.sources.items())}
        return json.dumps({"format": 1, "sources": sources}).encode() + b"\n" + b64encode(self.entries)

    @property
    def count(self) -> int:
        return len(self.entries) // ENTRY

    @property
    def moved(self) -> bool:
        """Whether the owner has brought files from another source."""
        return bool(self.sources.get(self.owner, frozenset()) - {self.source})

    def by(self, number: int) -> str | None:
        """Return the tag of the owner that brought the file of a key (its `number_of`); None if no sync did."""
        index = bisect_left(range(self.count), number, key=lambda each: self._entry(each)[0])
        found = self._entry(index) if index < self.count else None
        return found[1].hex() if found and found[0] == number else None

    def begun(self, listed: "array[int]") -> "BroughtHashes":
        """Return the record to write before the first of the listed keys is copied. Keys are given by `number_of`."""
        sources = self.sources.get(self.owner, frozenset()) | {self.source}
        return self._with(sources, listed, self._all())

    def finished(self, listed: "array[int]", kept: "array[int]") -> "BroughtHashes":
        """Return the record to write at the end. Of the keys that the source does not list, those of `kept` remain.

        Keys are given by `number_of`, in any order.
        """
        wanted = iter(sorted(kept))
        known, left = next(wanted, None), list[tuple[int, bytes]]()
        for entry in self._all():
            while known is not None and known < entry[0]:
                known = next(wanted, None)
            if known == entry[0]:
                left.append(entry)
        return self._with(frozenset({self.source}), listed, left)

    def _with(self, own: frozenset[str], listed: "array[int]", others: Iterable[tuple[int, bytes]]) -> "BroughtHashes":
        return replace(
            self,
            sources={**self.sources, self.owner: own},
            entries=_united(sorted(listed), bytes.fromhex(self.owner), others),
        )

    def _all(self) -> Iterator[tuple[int, bytes]]:
        return _ENTRY.iter_unpack(self.entries)

    def _entry(self, index: int) -> tuple[int, bytes]:
        number, tag = _ENTRY.unpack_from(self.entries, index * ENTRY)
        return number, tag


def _united(listed: Iterable[int], owner: bytes, others: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the entries of both in ascending order. A key that both have gets this owner."""
    made, last = bytearray(), -1
    for number, _, tag in heapq.merge(((each, 0, owner) for each in listed), ((each, 1, tag) for each, tag in others)):
        if number != last:
            made += _ENTRY.pack(number, tag)
            last = number
    return bytes(made)


def _sources(header: Mapping[str, object]) -> dict[str, frozenset[str]] | None:
    """Return the sources by the tags of their owners; None if the header is invalid."""
    found = header.get("sources")
    if header.get("format") != 1 or not isinstance(found, dict):
        return None
    if not all(isinstance(each, list) and all(isinstance(name, str) for name in each) for each in found.values()):
        return None
    return {owner: frozenset(each) for owner, each in found.items()}


def _is_sorted(entries: bytes) -> bool:
    last = -1
    for number, _ in _ENTRY.iter_unpack(entries):
        if number <= last:
            return False
        last = number
    return True
