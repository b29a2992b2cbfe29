"""One file of a repository, at one commit."""

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import _Hash

CHUNK = 1 << 20

_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """File with the digest of its content: SHA-256 if the Hub stores it outside of Git, else Git's own digest."""

    key: str
    """Path in the repository, and relative to the destination."""
    size: int
    sha256: str | None
    blob: str
    xet: str | None = None
    """Name in the Xet store, if the file is there."""

    @property
    def digest(self) -> str:
        """Digest with its algorithm."""
        return f"sha256:{self.sha256}" if self.sha256 else f"git:{self.blob}"

    @property
    def identity(self) -> str:
        """Name for the state files of this content under this path."""
        return hashlib.blake2s(repr((self.key, self.size, self.digest)).encode(), digest_size=16).hexdigest()

    def hasher(self) -> "_Hash":
        """Return an empty digest of the file's algorithm, to compare with `is_of`."""
        return hasher(self.size, git=self.sha256 is None)

    def is_of(self, found: "_Hash") -> bool:
        return found.hexdigest() == (self.sha256 or self.blob)


def hasher(size: int, *, git: bool) -> "_Hash":
    """Return an empty digest. Git hashes a header with the size before the bytes."""
    if git:
        return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    return hashlib.sha256()


def of_tree(entry: dict[str, Any]) -> RemoteFile:
    """Parse one entry of the Hub's listing. Raises any plain error if it is invalid.

    https://huggingface.co/docs/hub/api
    """
    lfs = entry.get("lfs") or {}
    path, size, sha256, blob, xet = entry["path"], entry["size"], lfs.get("oid"), entry["oid"], entry.get("xetHash")
    digests = [blob, *(each for each in (sha256, xet) if each is not None)]
    if not isinstance(path, str) or type(size) is not int or size < 0:
        raise ValueError(entry)
    if not all(isinstance(each, str) and _DIGEST.fullmatch(each) for each in digests):
        raise ValueError(entry)
    return RemoteFile(path, size, sha256, blob, xet)
