"""State of a download: the content of each file in the destination, so that unchanged files are not read again.

It is one file in the state directory, `files.jsonl`: a header line, then a line for each file as soon as it is in its
place. A file without a durable line is read and compared.
"""

import json
import os
import threading
from pathlib import Path
from typing import TextIO

from stowplan.agents.attempt.safe_files import boot, replace

NAME = "files.jsonl"

Line = tuple[str, int, int]
"""Digest, bytes, and time of last change in nanoseconds."""


class Known:
    """Files by key."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / NAME
        self._lock = threading.Lock()
        self._lines = _read(self._path)
        # The present lines may not be durable: without `durable` they are valid only until the next boot.
        self._write(durable=False)
        self._file: TextIO = self._path.open("a", encoding="utf-8")

    def is_of(self, key: str, digest: str, status: os.stat_result) -> bool:
        """Return whether the file is unchanged since it had this content."""
        return self._lines.get(key) == (digest, status.st_size, status.st_mtime_ns)

    def add(self, key: str, digest: str, status: os.stat_result) -> None:
        """Record that a file with this content is in its place."""
        line = (digest, status.st_size, status.st_mtime_ns)
        with self._lock:
            self._lines[key] = line
            self._file.write(_line(key, line))
            self._file.flush()

    def keep(self, keys: set[str]) -> None:
        """Record that all files are durable, and forget all files except `keys`."""
        with self._lock:
            self._lines = {key: line for key, line in self._lines.items() if key in keys}
            self._write(durable=True)

    def close(self) -> None:
        self._file.close()

    def _write(self, *, durable: bool) -> None:
        header = json.dumps({"format": 1, "boot": boot(), "durable": durable}) + "\n"
        replace(self._path, header + "".join(_line(key, line) for key, line in sorted(self._lines.items())))


def _line(key: str, line: Line) -> str:
    return json.dumps([key, *line], ensure_ascii=False) + "\n"


def _read(path: Path) -> dict[str, Line]:
    """Read the lines up to the first invalid one."""
    found: dict[str, Line] = {}
    try:
        text = path.read_text(encoding="utf-8")
        header, *lines = text[: text.rfind("\n") + 1].splitlines()
        told = json.loads(header)
        if not (told["durable"] or told["boot"] == boot() != ""):
            return {}
        for each in lines:
            key, digest, size, modified = json.loads(each)
            found[str(key)] = (str(digest), int(size), int(modified))
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return found
    return found
