"""Revision of objects in an S3 store, which has no revisions of its own: a hash of their listing."""

import hashlib
import json

LISTING = "sha256:"
"""Beginning of such a revision; 64 hexadecimal digits follow."""

JUICEFS_STORAGES = ("minio", "s3")
"""Schemes of the URIs of `juicefs sync` whose stores speak the protocol of S3, so that agents can list them."""


class ListingHash:
    """Hash of a listing: of the key, size and ETag of each object below a prefix, in ascending order of keys.

    Keys are relative to the prefix, so a copy of the objects in another bucket has the same hash if its ETags are the
    same. Patterns (`include`, `exclude`) make no difference: all objects below the prefix count.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, key: str, size: int, etag: str) -> None:
        """Add the object with the next key, relative to the prefix. Size in bytes; quotes of the ETag do not count."""
        line = json.dumps([key, size, etag.strip('"')], ensure_ascii=False) + "\n"
        # Bytes of a key that are no UTF-8 are single surrogates.
        self._hash.update(line.encode(errors="surrogateescape"))

    @property
    def revision(self) -> str:
        """The hash of what was added so far: `sha256:` and 64 hexadecimal digits."""
        return f"{LISTING}{self._hash.hexdigest()}"
