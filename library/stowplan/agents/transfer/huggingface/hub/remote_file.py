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
    """A file with the digest of its content: SHA-256 where the Hub keeps it apart from Git, else Git's own."""

    key: str
    """Its path in the repository: the path of the file below its destination."""
    size: int
    sha256: str | None
    blob: str
    xet: str | None = None
    """Its name in the Xet store, if it is there."""

    @property
    def digest(self) -> str:
        """What its bytes must give, as a word that also says how."""
        return f"sha256:{self.sha256}" if self.sha256 else f"git:{self.blob}"

    @property
    def identity(self) -> str:
        """A name for the files that belong to this content under this path."""
        return hashlib.blake2s(repr((self.key, self.size, self.digest)).encode(), digest_size=16).hexdigest()

    def hasher(self) -> "_Hash":
        """To be fed with all bytes; `is_of` then tells."""
        return hasher(self.size, git=self.sha256 is None)

    def is_of(self, found: "_Hash") -> bool:
        return found.hexdigest() == (self.sha256 or self.blob)


def hasher(size: int, *, git: bool) -> "_Hash":
    """Of a file of so many bytes; Git puts a header before them."""
    if git:
        return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    return hashlib.sha256()


def of_tree(entry: dict[str, Any]) -> RemoteFile:
    """From one entry of the Hub's answer to a listing; any plain error for what is none.

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
