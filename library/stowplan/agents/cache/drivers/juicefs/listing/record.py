"""Which versions of the objects of an S3 store a dataset holds: their ETags, since a listing of files has none.

A file in the state directory: a line that names its format, then the base64 of entries of `ENTRY` bytes in ascending
order. An entry is the start of a hash of an object's key, size and time, and the start of a hash of its ETag. A loss of
the file costs nothing but the certainty that no object was replaced within a second by one of the same size.
"""

import binascii
import hashlib
import json
from base64 import b64decode, b64encode
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Literal

from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry

FOLDER = "listings/"
"""Folder of the records in the state directory."""

MOST = 1_000_000
"""Maximum number of objects of a record. Of a larger source none is kept."""

_FORMAT = b"stowplan listing 1\n"
_NAME, ENTRY = 7, 12

LARGEST = len(_FORMAT) + 4 * (MOST * ENTRY // 3 + 1)
"""Maximum size of the file in bytes."""

State = Literal["unknown", "copied", "adopted", "other"]
"""What a record says about a file that has the size and the time of the listed object.

`unknown`: nothing. `copied`: the file is this version of the object. `adopted`: the object is still the version that it
was when the file was found, with its size and time. `other`: the file is another version.
"""


def file_name(destination: str) -> str:
    """Return the name, in the state directory, of the record of a destination, given by its path in the volume."""
    return f"{FOLDER}{hashlib.blake2s(destination.encode(), digest_size=8).hexdigest()}"


def entries_of(text: bytes, size: int) -> bytes | None:
    """Decode the base64 of entries of `size` bytes; None if it is invalid."""
    try:
        found = b64decode(text, validate=True)
    except binascii.Error:
        return None
    return None if len(found) % size else found


@dataclass(frozen=True)
class VersionRecord:
    """Record of the versions that a dataset holds, as `read` has parsed it."""

    entries: bytes = b""

    @classmethod
    def read(cls, content: bytes | None) -> "VersionRecord":
        """Parse the content of the file; an empty record if there is none, or if it is invalid: others may write it."""
        if content is None or not content.startswith(_FORMAT):
            return cls()
        return cls(entries_of(content[len(_FORMAT) :], ENTRY) or b"")

    def content(self) -> bytes:
        """Return the content of the file."""
        return _FORMAT + b64encode(self.entries)

    def state(self, entry: Entry) -> State:
        """Return what the record says about a file with the size and the time of this object."""
        found = self.find(entry)
        if found is None:
            return "unknown"
        if found == _line(entry, adopted=False):
            return "copied"
        return "adopted" if found == _line(entry, adopted=True) else "other"

    def find(self, entry: Entry) -> bytes | None:
        """Return the recorded entry of an object of this key, size and time; None if there is none."""
        wanted, count = _line(entry, adopted=False)[:_NAME], len(self.entries) // ENTRY
        index = bisect_left(range(count), wanted, key=lambda each: self.entries[each * ENTRY : each * ENTRY + _NAME])
        found = self.entries[index * ENTRY : (index + 1) * ENTRY]
        return found if found[:_NAME] == wanted else None


@dataclass
class NewVersionRecord:
    """New record of the versions that a dataset holds: call `add` and `keep` in any order, then `content`."""

    count: int = 0
    _entries: list[bytes] = field(default_factory=list)

    def add(self, entry: Entry, *, adopted: bool) -> None:
        """Add a listed object whose file is that version, or has only its size and time (`adopted`)."""
        self.keep(_line(entry, adopted=adopted))

    def keep(self, line: bytes) -> None:
        """Add an entry of another record, as `VersionRecord.find` returns it."""
        self.count += 1
        if self.count <= MOST:
            self._entries.append(line)

    def content(self) -> bytes | None:
        """Return the content of the file; None if there are more than `MOST` objects, or none."""
        if not 0 < self.count <= MOST:
            return None
        return VersionRecord(b"".join(sorted(self._entries))).content()


def _line(entry: Entry, *, adopted: bool) -> bytes:
    object_name = json.dumps([entry.key, entry.size, entry.modified]).encode()
    version = json.dumps([entry.etag.strip('"'), adopted]).encode()
    return (
        hashlib.blake2s(object_name, digest_size=_NAME).digest()
        + hashlib.blake2s(version, digest_size=ENTRY - _NAME).digest()
    )
