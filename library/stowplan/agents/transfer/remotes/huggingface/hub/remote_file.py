"""One file of a repository, at one commit."""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stowplan.agents.transfer.tree import Tree, blocks

if TYPE_CHECKING:
    from hashlib import _Hash

_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """File of a repository with the digest of its content: SHA-256 for a file outside of Git, else Git's own digest."""

    key: str
    """Path in the repository, and relative to the destination."""
    size: int
    sha256: str | None
    """SHA-256 of the content in hexadecimal digits; None if the Hub stores the file in Git itself."""
    blob: str
    """Name of the Git blob: the SHA-1 of a header and the content, or of a pointer if the file is outside of Git."""
    xet: str | None = None
    """Name of the file in the Xet store; None if it is not stored there."""

    @property
    def digest(self) -> str:
        """Digest of the content as `sha256:<digits>` or `git:<digits>`."""
        return f"sha256:{self.sha256}" if self.sha256 else f"git:{self.blob}"

    @property
    def identity(self) -> str:
        """Hash of path, size and digest in hexadecimal digits, as the name of files about this version of the file."""
        return hashlib.blake2s(repr((self.key, self.size, self.digest)).encode(), digest_size=16).hexdigest()

    def hasher(self) -> "_Hash":
        """Return a new hash object for the content of this file: SHA-256, or SHA-1 that already holds Git's header.

        `is_of` compares it with the expected digest.
        """
        if self.sha256 is None:
            return hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False)
        return hashlib.sha256()

    def is_of(self, found: "_Hash") -> bool:
        """Return whether a hash object from `hasher`, updated with all bytes, has the digest of this file."""
        return found.hexdigest() == (self.sha256 or self.blob)

    def is_at(self, tree: Tree, key: str, check: Callable[[], None]) -> bool:
        """Return whether the file `key` in the claim has the bytes of this one. `check` is called between reads."""
        with os.fdopen(tree.reader(key), "rb") as file:
            if os.fstat(file.fileno()).st_size != self.size:
                return False
            digest = self.hasher()
            for data in blocks(file.fileno(), check):
                digest.update(data)
            return self.is_of(digest)


def of_tree(entry: dict[str, Any]) -> RemoteFile:
    """Parse one file of the Hub's listing. Raises ValueError, LookupError, TypeError or AttributeError if invalid.

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
