"""Files of the cache, signed by their writer.

Each file begins with a keyed hash of its name and content. The key lies outside of the cache folder. So a file that was
edited, forged or copied from the cache of another user counts as missing.
"""

import os
import secrets
import sys
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from stat import S_ISREG

_SIZE = 32
"""Bytes of the secret key, and of the keyed hash (the mark) at the start of each file."""
_LARGEST = 1 << 28
"""Bytes of the largest file that is read or written."""
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

MOST_FILES = 200
"""Most files in a folder of the cache. The oldest are removed first."""


def folder() -> Path:
    """Return the folder of the cache: `$XDG_CACHE_HOME/stowplan/runs`, below `~/.cache` if the variable is unset."""
    return _base("XDG_CACHE_HOME", ".cache") / "runs"


def read(path: Path) -> bytes | None:
    """Return the content of a file of the cache; None unless `write` wrote it for this user. Never raises `OSError`."""
    with suppress(OSError):
        content = _regular(path) or b""
        mark, content = content[:_SIZE], content[_SIZE:]
        if compare_digest(mark, _mark(path, content, _key())):
            return content
    return None


def write(path: Path, content: bytes) -> None:
    """Write or replace a file in one step, and keep only the newest `MOST_FILES` files of its folder.

    Missing folders and the user's key are created. If the content has about 256 MiB or more, the file is removed
    instead. Raises `OSError`.
    """
    if len(content) > _LARGEST - _SIZE:
        path.unlink(missing_ok=True)
        return
    _make_private(path.parent)
    key = _key(make=True)
    # Process numbers are not unique: containers and machines may share the folder.
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    _create(temporary, _mark(path, content, key) + content)
    temporary.replace(path)
    newest_first = sorted(path.parent.iterdir(), key=lambda each: each.lstat().st_mtime, reverse=True)
    for each in newest_first[MOST_FILES:]:
        each.unlink(missing_ok=True)


def _base(variable: str, below_home: str) -> Path:
    return Path(os.environ.get(variable) or Path("~", below_home).expanduser(), "stowplan")


def _mark(path: Path, content: bytes, key: bytes) -> bytes:
    return blake2b(os.fsencode(path.name) + b"\0" + content, key=key, digest_size=_SIZE).digest()


def _key(*, make: bool = False) -> bytes:
    """Return the secret key of this user from `$XDG_STATE_HOME/stowplan/cache-key`.

    With `make`, a missing file is created. Raises `OSError` if the file is missing or holds no key.
    """
    path = _base("XDG_STATE_HOME", ".local/state") / "cache-key"
    if make and not path.exists():
        _make_private(path.parent)
        with suppress(FileExistsError):
            _create(path, secrets.token_bytes(_SIZE))
    key = _regular(path)
    if key is None or len(key) != _SIZE:
        raise OSError(f"{path} is no key")
    return key


def _regular(path: Path) -> bytes | None:
    """Return the bytes of a regular file that this user owns and no other user may write; None for any other file."""
    with open(os.open(path, _OPEN), "rb") as file:  # noqa: PTH123 - a descriptor
        found = os.fstat(file.fileno())
        if not S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            return None
        if sys.platform != "win32" and (found.st_uid != os.getuid() or found.st_mode & 0o022):
            return None
        return file.read(_LARGEST)


def _create(path: Path, content: bytes) -> None:
    with open(os.open(path, _CREATE, 0o600), "wb") as file:  # noqa: PTH123 - a descriptor
        file.write(content)


def _make_private(folder: Path) -> None:
    """Make a folder and its missing parents, readable by their owner only. Existing folders stay unchanged."""
    if not folder.exists():
        _make_private(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
