"""Small files in the state directories of a claim, by their paths.

Everybody with write access to a volume can put anything there: `claim.folder` says what that means. In all functions
`root` is a trusted directory, and `path` is relative to it. They raise OSError.
"""

import errno
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from stowplan.agents.attempt.claim.folder import ClaimFolder

LARGEST = 64 * 1024
"""Maximum size in bytes of a file that is read. Marker files have less than one thousand bytes."""

MOST_NAMES = 100_000
"""Maximum number of files in a folder that is read."""

MOST_BYTES = 16 << 20
"""Maximum number of bytes that are read from one folder."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def read(root: Path, path: str, largest: int = LARGEST) -> bytes | None:
    """Return the content of the file at `path` below `root`, or None. Raises OSError if it cannot be read.

    None if the file is missing, is no regular file or is larger than `largest` bytes, or if a folder in `path` is a
    link.
    """
    parent, _, name = path.rpartition("/")
    try:
        with ClaimFolder.at(root, parent) as folder:
            return folder.read(name, largest)
    except (FileNotFoundError, NotADirectoryError):
        return None


def json_object(found: bytes | None) -> dict[str, Any] | None:
    """Parse a JSON object; None if `found` is None or anything but a JSON object.

    Also None if the object is nested too deeply for the parser.
    """
    value = None if found is None else json_value(found)
    return value if isinstance(value, dict) else None


def json_value(found: bytes) -> Any:
    """Parse JSON; None if it is invalid, nested too deeply for the parser, or `null`."""
    try:
        return json.loads(found)
    except (ValueError, RecursionError):
        return None


def files(root: Path, path: str, largest: int = LARGEST) -> dict[str, bytes]:
    """Return the contents of the files in the folder at `path` below `root`, by name, without subfolders.

    Empty if the folder is missing, or if a part of `path` is a link. The content of a file is empty if `read` would
    return None for it, and as soon as the files before it have `MOST_BYTES` together. Raises OSError for more than
    `MOST_NAMES` files.
    """
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    with suppress(FileNotFoundError, NotADirectoryError), ClaimFolder.at(root, path) as folder:
        for name in _names(folder):
            known = folder.read(name, largest) if left > 0 else None
            left -= len(known or b"")
            if known is not None or folder.stat(name) is not None:
                found[name] = known or b""
    return found


def names(root: Path, path: str) -> list[str]:
    """Return the sorted names of everything but folders in the folder at `path` below `root`.

    Empty if the folder is missing, or if a part of `path` is a link. Raises OSError for more than `MOST_NAMES` files.
    """
    with suppress(FileNotFoundError, NotADirectoryError), ClaimFolder.at(root, path) as folder:
        return _names(folder)
    return []


def _names(folder: ClaimFolder) -> list[str]:
    found = [each.name for each in folder.entries(MOST_NAMES + 1) if not each.is_folder]
    if len(found) > MOST_NAMES:
        raise OSError(errno.EFBIG, f"The folder {folder.where} has more than {MOST_NAMES} files")
    return sorted(found)


def write(root: Path, path: str, text: str) -> None:
    """Write the file at `path` below `root`, atomically and durably, as UTF-8.

    Missing folders are created. If `path` is a link, the link itself is replaced by the file. Raises OSError.
    """
    parent, _, name = path.rpartition("/")
    with ClaimFolder.at(root, parent, create=True) as folder:
        folder.write(name, text)


def remove(root: Path, path: str) -> None:
    """Remove the file or link at `path` below `root`, if there is one. Raises OSError also if a folder is a link."""
    parent, _, name = path.rpartition("/")
    with suppress(FileNotFoundError), ClaimFolder.at(root, parent) as folder:
        folder.remove_file(name)


def boot() -> str:
    """Return an identifier that changes with each boot of the machine; empty if it is unknown.

    Data that was written since the boot can be read even if it is not durable.
    """
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
