"""Content of files in the claim."""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import CHUNK, RemoteFile, hasher
from stowplan.agents.transfer.tree import Tree

if TYPE_CHECKING:
    from hashlib import _Hash


def has_content(tree: Tree, key: str, file: RemoteFile, check: Callable[[], None]) -> bool:
    """Return whether the file `key` in the claim has the same bytes as `file`. `check` is called between reads."""
    descriptor = tree.reader(key)
    try:
        if os.fstat(descriptor).st_size != file.size:
            return False
        digest: _Hash = hasher(file.size, git=file.sha256 is None)
        offset = 0
        while data := os.pread(descriptor, CHUNK, offset):
            check()
            digest.update(data)
            offset += len(data)
        return file.is_of(digest)
    finally:
        with suppress(OSError):
            os.close(descriptor)
