"""Record of a download: the digest of each file in the destination, so that unchanged files are not read again.

It is the file `files.jsonl` in the state directory: a header line, then a line for each file as soon as the file is at
its path. A file without a durable line is read, and its digest is compared.
"""

import json
import os
import threading
from pathlib import Path
from typing import TextIO

from stowplan.agents.attempt.safe_files import boot, replace

NAME = "files.jsonl"

Line = tuple[str, int, int]
"""Digest as in `RemoteFile.digest`, size in bytes, and modification time in nanoseconds since 1970."""


class Known:
    """Recorded digests of files in the destination, by key. Any thread may use it."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / NAME
        self._lock = threading.Lock()
        self._lines = _read(self._path)
        # The present lines may not be durable: without `durable` they are valid only until the next boot.
        self._write(durable=False)
        self._file: TextIO = self._path.open("a", encoding="utf-8")

    def is_of(self, key: str, digest: str, status: os.stat_result) -> bool:
        """Return whether `key` is recorded with this digest, and with the size and time in `status`."""
        return self._lines.get(key) == (digest, status.st_size, status.st_mtime_ns)

    def add(self, key: str, digest: str, status: os.stat_result) -> None:
        """Record that the file `key`, with the attributes `status`, has the content with this digest."""
        line = (digest, status.st_size, status.st_mtime_ns)
        with self._lock:
            self._lines[key] = line
            self._file.write(_line(key, line))
            self._file.flush()

    def keep(self, keys: set[str]) -> None:
        """Remove all records except those of `keys`, and record that these files are durable."""
        with self._lock:
            self._lines = {key: line for key, line in self._lines.items() if key in keys}
            self._write(durable=True)

    def close(self) -> None:
        self._file.close()

    def _write(self, *, durable: bool) -> None:
        """Replace the file by one with all records. Without `durable` they are ignored after the next boot."""
        header = json.dumps({"format": 1, "boot": boot(), "durable": durable}) + "\n"
        replace(self._path, header + "".join(_line(key, line) for key, line in sorted(self._lines.items())))


def _line(key: str, line: Line) -> str:
    return json.dumps([key, *line], ensure_ascii=False) + "\n"


def _read(path: Path) -> dict[str, Line]:
    """Return the recorded lines by key, up to the first invalid one; an empty dict if the file is not valid."""
    found: dict[str, Line] = {}
    try:
        text = path.read_text(encoding="utf-8")
        header, *lines = text[: text.rfind("\n") + 1].splitlines()
        head = json.loads(header)
        if not (head["durable"] or head["boot"] == boot() != ""):
            return {}
        for each in lines:
            key, digest, size, modified = json.loads(each)
            found[str(key)] = (str(digest), int(size), int(modified))
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return found
    return found
