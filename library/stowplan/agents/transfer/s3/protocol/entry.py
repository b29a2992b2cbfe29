"""One object of a source, as it was listed."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """An object, or a zero-byte object that stands for a folder (its key ends in `/`)."""

    key: str
    """Below the prefix of the transfer: the path of the file below its destination."""
    size: int
    etag: str
    """As the server gave it, in quotes."""
    modified: int
    """Whole seconds since 1970: a file gets it as the time of its last change."""

    @property
    def is_folder(self) -> bool:
        return self.key.endswith("/")

    @property
    def identity(self) -> str:
        """A name for the files that belong to this version of this object."""
        return hashlib.blake2s(
            repr((self.key, self.size, self.etag, self.modified)).encode(), digest_size=16
        ).hexdigest()

    @property
    def md5(self) -> str | None:
        """The digest that the ETag of an object in one piece is; stores with keys of their own give other ones."""
        bare = self.etag.strip('"').lower()
        return bare if len(bare) == 32 and not set(bare) - set("0123456789abcdef") else None

    @property
    def pieces(self) -> tuple[bytes, int] | None:
        """The digest of the digests of the parts that an object was uploaded in, and their number."""
        digest, dash, count = self.etag.strip('"').lower().partition("-")
        good = dash and len(digest) == 32 and not set(digest) - set("0123456789abcdef") and count.isdecimal()
        return (bytes.fromhex(digest), int(count)) if good else None


def written(entry: Entry, *, wanted: bool) -> str:
    """One line of a file of entries; `wanted` says that its content has to be fetched."""
    return json.dumps([entry.key, entry.size, entry.etag, entry.modified, int(wanted)], ensure_ascii=False) + "\n"


def read(line: str) -> tuple[Entry, bool]:
    """What `written` wrote; ValueError if it is something else."""
    key, size, etag, modified, wanted = json.loads(line)
    return Entry(key, size, etag, modified), bool(wanted)


class InOrder:
    """Entries in ascending order of keys, asked for in the same order: none is kept."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def at(self, key: str) -> Entry | None:
        """The entry of this key, which is not below the key of the question before."""
        while self._next and self._next.key < key:
            self._next = next(self._entries, None)
        return self._next if self._next and self._next.key == key else None
