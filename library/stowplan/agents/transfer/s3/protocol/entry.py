"""One object in the listing of a source."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class S3Object:
    """Object, or zero-byte object for a folder (its key ends in `/`)."""

    key: str
    """Key relative to the transfer's prefix, and path relative to the destination."""
    size: int
    etag: str
    """ETag from the server, in quotes."""
    modified: int
    """Modification time in whole seconds since 1970; the file gets the same one."""

    @property
    def is_folder(self) -> bool:
        return self.key.endswith("/")

    @property
    def identity(self) -> str:
        """Name for the state files of this version of this object."""
        return hashlib.blake2s(
            repr((self.key, self.size, self.etag, self.modified)).encode(), digest_size=16
        ).hexdigest()

    @property
    def md5(self) -> str | None:
        """MD5 in the ETag of an object in one piece. Stores with their own keys have other ETags."""
        bare = self.etag.strip('"').lower()
        return bare if len(bare) == 32 and not set(bare) - set("0123456789abcdef") else None

    @property
    def pieces(self) -> tuple[bytes, int] | None:
        """Digest of the parts' digests in the ETag, and the number of parts."""
        digest, dash, count = self.etag.strip('"').lower().partition("-")
        good = dash and len(digest) == 32 and not set(digest) - set("0123456789abcdef") and count.isdecimal()
        return (bytes.fromhex(digest), int(count)) if good else None


def written(entry: S3Object, *, wanted: bool) -> str:
    """Return one line of a file of entries. `wanted`: the content must be fetched."""
    return json.dumps([entry.key, entry.size, entry.etag, entry.modified, int(wanted)], ensure_ascii=False) + "\n"


def read(line: str) -> tuple[S3Object, bool]:
    """Parse a line of `written`. Raises ValueError if it is invalid."""
    key, size, etag, modified, wanted = json.loads(line)
    return S3Object(key, size, etag, modified), bool(wanted)


class InOrder:
    """Look-up of entries in ascending order of keys, by keys in the same order. Nothing is stored."""

    def __init__(self, entries: Iterator[S3Object]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def at(self, key: str) -> S3Object | None:
        """Return the entry of this key, which must not be smaller than the key before."""
        while self._next and self._next.key < key:
            self._next = next(self._entries, None)
        return self._next if self._next and self._next.key == key else None
