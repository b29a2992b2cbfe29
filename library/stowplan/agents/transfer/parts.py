"""Incomplete large file on disk: a file that has the full size from the beginning, and a journal of its finished parts.

The journal is a header line (JSON), then a line `w <part number>` for each written part, and a line `s <count>` each
time the parts of the first `count` lines `w` were made durable. After SIGKILL of the agent all parts with a complete
line `w` are valid. After a crash of the cluster node only the durable ones are.
"""

import io
import json
import os
import threading
import time
from collections.abc import Container
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Generic, Protocol, TypeVar

from stowplan.agents.attempt.claim.folder import ClaimFolder, append
from stowplan.agents.attempt.claim.walk import remove
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import boot, json_object
from stowplan.agents.transfer.files.draft import Draft
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode

SYNC_SECONDS = 5.0
"""Minimum seconds between two lines `s` of the journal."""

LEAST_PART = 2 << 20
"""Minimum size in bytes of the parts of a file that is gone on with.

An attempt takes parts of at least 5 MiB, or a little more than half of that, to begin and end them where those of the
upload do. Others may write to a journal, and each part is a request.
"""

MOST_PARTS = 1_000_000
"""Maximum number of parts of a file that is gone on with."""

LONGEST_JOURNAL = 16 << 20
"""Maximum size in bytes of a journal that is read, which has about nine for each part."""

MOST_LEFTOVERS = 100_000
"""Maximum number of files of earlier attempts that are looked at. Those beyond remain for the next attempt."""

_DIGITS = len(str(MOST_PARTS))
"""Maximum number of digits in a line of a journal."""

PART, JOURNAL, WHOLE = ".part", ".parts", ".whole"
"""Suffixes of files in the folder for incomplete files.

They are for a file in parts, for its journal, and for a file that one request fetches.
"""


class ChangedError(AttemptError):
    """A file of the remote side has changed since it was listed: it must be fetched from its beginning."""

    def __init__(self, key: str) -> None:
        super().__init__(ExitCode.TRANSIENT, "Changed", f"{key} changed while it was fetched")


class Piece(Protocol):
    """One version of one object or file on the remote side."""

    @property
    def key(self) -> str:
        """Key or path. It is in the journal only for people who read it."""

    @property
    def size(self) -> int:
        """Size in bytes."""

    @property
    def identity(self) -> str:
        """String that differs for each version of each object, and is valid as a file name."""


P = TypeVar("P", bound=Piece)


def identities(folder: ClaimFolder) -> set[str]:
    """Return each `Piece.identity` with incomplete files in a folder, and the stems of what others have put there."""
    return {PurePosixPath(each.name).stem for each in folder.entries(MOST_LEFTOVERS)}


def sweep(folder: ClaimFolder, unwanted: Container[str]) -> None:
    """Remove the incomplete files of the identities in `unwanted`, as in `Piece.identity`, from a folder."""
    for each in folder.entries(MOST_LEFTOVERS):
        if PurePosixPath(each.name).stem in unwanted:
            remove(folder, each.name)


def check_space(destination: ClaimFolder, folder: ClaimFolder, wanted: int, files: int) -> None:
    """Raise AttemptError (5) unless the destination has space for `wanted` bytes in a number of files.

    What the incomplete files in `folder` take is a part of these bytes.
    """
    free = os.statvfs(destination.descriptor)
    free_bytes = free.f_bavail * free.f_frsize
    found = (folder.stat(each.name) for each in folder.entries(MOST_LEFTOVERS))
    here = sum(each.st_blocks * 512 for each in found if each)
    # Some network file systems report no size at all.
    if free.f_blocks and wanted > free_bytes + here:
        message = f"{wanted} bytes are to be fetched, but the claim has space for {free_bytes}"
        raise AttemptError(ExitCode.CONFLICT, "NoSpace", message)
    if free.f_files and files > free.f_favail:
        message = f"{files} files are to be fetched, but the claim has space for {free.f_favail}"
        raise AttemptError(ExitCode.CONFLICT, "NoSpace", message)


@dataclass(frozen=True, slots=True)
class Extent:
    """One part of a file: its number, counted from 0, and its bytes, from offset `start` to before offset `end`."""

    number: int
    start: int
    end: int


class PartFile(Generic[P]):
    """Incomplete file with the fetched parts of one version, and its journal. Threads may write parts in parallel.

    It continues the incomplete file of an earlier attempt in `folder`, which then also determines the part size in
    bytes. Write each part in `missing` to `draft`, then call `done`; in the end `finish` and `place`, or `close` alone,
    which leaves both files for the next attempt; `forget` deletes them. The constructor and the methods raise OSError.
    """

    def __init__(self, folder: ClaimFolder, entry: P, part_size: int) -> None:
        self.entry = entry
        self.name = f"{entry.identity}{PART}"
        """Name of the file in the folder."""
        self._folder = folder
        self._journal_name = f"{entry.identity}{JOURNAL}"
        self._lock = threading.Lock()
        self._there: set[int] = set()
        self._before = 0
        self._journal = -1
        self._begin(part_size)
        self._synced_at = time.monotonic()

    @property
    def missing(self) -> list[Extent]:
        """Return the parts that are not recorded as finished, by ascending number."""
        count = -(-self.entry.size // self.part_size)
        return [self._extent(number) for number in range(count) if number not in self._there]

    @property
    def present(self) -> int:
        """Return the number of bytes in finished parts."""
        return sum(each.end - each.start for each in map(self._extent, self._there))

    @property
    def begun(self) -> int:
        """Return the number of bytes before the first missing part."""
        with self._lock:
            while self._before in self._there:
                self._before += 1
            return min(self._before * self.part_size, self.entry.size)

    def done(self, extent: Extent) -> None:
        """Record that all bytes of a part were written. Every few seconds this also makes the written parts durable."""
        with self._lock:
            self._there.add(extent.number)
            append(self._journal, f"w {extent.number}\n")
            count, now = len(self._there), time.monotonic()
            due = now - self._synced_at >= SYNC_SECONDS
            if due:
                self._synced_at = now
        if due:
            os.fdatasync(self.draft.descriptor)
            with self._lock:
                append(self._journal, f"s {count}\n")

    def finish(self, modified: int | None = None) -> int:
        """Make the file durable, and return its descriptor, which stays valid until `close`.

        `modified` is the modification time to set, in seconds since 1970; None for no change. Raises AttemptError (11)
        if the file has another size than it must have.
        """
        self.draft.finish(self.entry.key, self.entry.size, None if modified is None else modified * 10**9)
        return self.draft.descriptor

    def place(self, tree: Tree) -> None:
        """Close the finished file, move it to the path of its key, and delete the journal."""
        self.draft.place(tree, self.entry.key)
        self.close()
        self._folder.remove_file(self._journal_name)

    def close(self) -> None:
        """Close the files. Another call does nothing."""
        self.draft.close()
        journal, self._journal = self._journal, -1
        if journal >= 0:
            os.close(journal)

    def forget(self) -> None:
        """Delete the journal, and the file unless it was moved."""
        self._folder.remove_file(self.name)
        self._folder.remove_file(self._journal_name)

    def _extent(self, number: int) -> Extent:
        start = number * self.part_size
        return Extent(number, start, min(start + self.part_size, self.entry.size))

    def _begin(self, part_size: int) -> None:
        """Open the file and write a new journal.

        Sets the part size and the numbers of the parts that are present. They come from an earlier attempt's journal,
        unless there is none, or its file is missing or has the wrong size.
        """
        self.part_size, self._there = _read(self._folder.read(self._journal_name, LONGEST_JOURNAL), self.entry.size)
        draft = Draft.begun(self._folder, self.name) if self.part_size else None
        if draft is not None and draft.size != self.entry.size:
            draft.close()
            draft = None
        if draft is None:
            self.part_size, self._there = part_size, set()
            draft = Draft.new(self._folder, self.name)
        self.draft = draft
        """The file. Call `done` after the last bytes of a part are written."""
        draft.resize(self.entry.size)
        head = json.dumps({"key": self.entry.key, "partSize": self.part_size, "boot": boot()})
        body = "".join(f"w {number}\n" for number in self._there)
        # The new journal has no line `s`: all these parts count as not durable until the next one.
        self._journal = self._folder.begin(self._journal_name, f"{head}\n{body}")


def _read(journal: bytes | None, size: int) -> tuple[int, set[int]]:
    """Return the part size of a journal and the numbers of its valid parts; (0, {}) if it is missing or invalid.

    `size` is that of the file in bytes. A last line without a newline is ignored: it was cut off when the agent was
    killed.
    """
    lines = io.BytesIO(journal or b"")
    found = json_object(lines.readline()) or {}
    part_size = found.get("partSize")
    if type(part_size) is not int or part_size < LEAST_PART or size > part_size * MOST_PARTS:
        return 0, set()
    count, written, synced = -(-size // part_size), list[int](), 0
    for line in lines:
        name, _, text = line.removesuffix(b"\n").partition(b" ")
        if not line.endswith(b"\n"):
            break
        if name not in (b"w", b"s") or not text.isdigit() or len(text) > _DIGITS:
            return 0, set()
        if name == b"s":
            synced = max(synced, int(text))
            continue
        written.append(int(text))
        if written[-1] >= count or len(written) > count:
            return 0, set()
    same_boot = found.get("boot") == boot() != ""
    return part_size, set(written if same_boot else written[:synced])
