"""Record of a download: the digest of each file in the destination, so that unchanged files are not read again.

It is the file `files.jsonl` in the state directory: a header line, then a line for each file as soon as the file is at
its path. A file without a durable line is read, and its digest is compared.
"""

import json
import os
import threading
from collections.abc import Iterator, Mapping
from itertools import starmap

from stowplan.agents.attempt.claim.folder import ClaimFolder, append
from stowplan.agents.attempt.safe_files import boot, json_object, json_value
from stowplan.agents.copying.newness import Stamp

NAME = "files.jsonl"

Line = tuple[str, int, int]
"""Digest as in `RemoteFile.digest`, size in bytes, and modification time in nanoseconds since 1970."""


class Known:
    """Recorded digests of files in the destination, by key. Any thread may use it.

    `wanted` has the digests of the files that are to be there. Other records are dropped. Methods raise OSError.
    """

    def __init__(self, state: ClaimFolder, wanted: Mapping[str, str]) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._lines = {key: line for key, line in _read(state) if wanted.get(key) == line[0]}
        # The present lines may not be durable: without `durable` they are valid only until the next boot.
        self._file = self._written(durable=False)

    def is_of(self, key: str, digest: str, status: os.stat_result) -> bool:
        """Return whether `key` is recorded with this digest, and with the size and time in `status`."""
        known = self._lines.get(key)
        return known is not None and known[0] == digest and Stamp(*known[1:]).agrees(Stamp.of(status))

    def add(self, key: str, digest: str, status: os.stat_result) -> None:
        """Record that the file `key`, with the attributes `status`, has the content with this digest."""
        line = (digest, status.st_size, status.st_mtime_ns)
        with self._lock:
            self._lines[key] = line
            append(self._file, _line(key, line))

    def finish(self) -> None:
        """Record that all recorded files are durable. Call it after they were synced to disk, and before `close`."""
        with self._lock:
            before, self._file = self._file, self._written(durable=True)
            os.close(before)

    def close(self) -> None:
        os.close(self._file)

    def _written(self, *, durable: bool) -> int:
        """Replace the file by one with all records, and return its descriptor.

        Without `durable` they are ignored after the next boot.
        """
        header = json.dumps({"format": 1, "boot": boot(), "durable": durable}) + "\n"
        return self._state.begin(NAME, header + "".join(starmap(_line, sorted(self._lines.items()))))


def _line(key: str, line: Line) -> str:
    return json.dumps([key, *line], ensure_ascii=False) + "\n"


def _read(state: ClaimFolder) -> Iterator[tuple[str, Line]]:
    """Yield (key, record) for each line of the file, up to the first invalid one; nothing if the file is not valid."""
    lines = state.lines(NAME)
    head = json_object(next(lines, None)) or {}
    if not (head.get("durable") is True or head.get("boot") == boot() != ""):
        return
    for each in lines:
        match json_value(each):
            case [str(key), str(digest), int(size), int(modified)]:
                yield key, (digest, size, modified)
            case _:
                return
