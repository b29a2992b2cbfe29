"""Record of a download: which version of which object is in the destination.

Three files in the state directory of the transfer:

- `known.jsonl`: objects that are in the destination, in ascending order of keys;
- `listing.jsonl`: the objects that the current attempt listed in the source, in the same order;
- `progress.json`: which objects of that listing are finished, by their number in it.

An object is fetched again unless its file has the recorded size and time. So a loss of these files only costs time.
"""

import heapq
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Lock
from typing import Any, TextIO

from stowplan.agents.attempt.safe_files import boot, replace, sync_directory
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.remotes.s3.protocol import entry as lines
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object

Marks = dict[str, Any]
"""Content of a `Done` as plain data, for `progress.json`."""

WINDOW = 10_000
"""Maximum distance in the listing from the oldest unfinished entry to an entry whose fetch begins."""


@dataclass
class Done:
    """Numbers of the finished entries of the listing, counted from 0: all before `below`, and those in `beyond`."""

    below: int = 0
    beyond: set[int] = field(default_factory=set)
    replaced: dict[int, S3Object | None] = field(default_factory=dict)
    """By number, the version that was fetched instead of the listed one; None if the object was not fetched."""
    _changed: Condition = field(default_factory=Condition)

    def add(self, index: int) -> None:
        """Record that an entry is finished."""
        with self._changed:
            self.beyond.add(index)
            while self.below in self.beyond:
                self.beyond.remove(self.below)
                self.below += 1
            self._changed.notify_all()

    def replace(self, index: int, entry: S3Object | None) -> None:
        """Record that entry number `index` of the listing is finished, although the listed version was not fetched.

        `entry` is the version that was fetched instead; None if the object is gone.
        """
        with self._changed:
            self.replaced[index] = entry
        self.add(index)

    def wait_for_window(self, index: int, stop: Stop) -> None:
        """Wait until the oldest unfinished entry is at most `WINDOW` entries before `index`. Raises StoppedError."""
        with self._changed:
            while index - self.below > WINDOW:
                stop.check()
                self._changed.wait(0.2)

    def snapshot(self) -> Marks:
        """Return the numbers of the finished entries, and the replaced versions, as plain data for JSON."""
        with self._changed:
            replaced = {
                str(index): entry and [entry.size, entry.etag, entry.modified] for index, entry in self.replaced.items()
            }
            return {"below": self.below, "beyond": sorted(self.beyond), "replaced": replaced}


class Ledger:
    """Files in the state directory of one transfer: the finished objects, the listing, and the progress in it."""

    def __init__(self, directory: Path) -> None:
        self._known = directory / "known.jsonl"
        self._listing = directory / "listing.jsonl"
        self._progress = directory / "progress.json"
        self._directory = directory
        self._saving = Lock()
        self._synced: Marks | None = None

    def fold(self) -> None:
        """Merge the finished entries of an interrupted attempt's listing into `known.jsonl`, and delete the listing."""
        saved = _object(self._progress)
        marks = saved.get("written" if saved.get("boot") == boot() != "" else "synced") if saved else None
        if isinstance(marks, dict) and self._listing.exists():
            temporary = self._known.with_suffix(".tmp")
            with temporary.open("w", encoding="utf-8") as file:
                for entry in _latest(_done(self.listing(), marks), (each for each, _ in _entries(self._known))):
                    file.write(lines.written(entry, wanted=False))
                _durable(file)
            temporary.replace(self._known)
        for each in (self._progress, self._listing):
            each.unlink(missing_ok=True)
        sync_directory(self._directory)

    def known(self) -> Iterator[S3Object]:
        """Yield the objects that are in the destination, in ascending order of keys."""
        return (entry for entry, _ in _entries(self._known))

    @contextmanager
    def new_listing(self) -> Iterator[TextIO]:
        """Yield a new file, for lines of `entry.written`. It becomes `listing.jsonl` if the block succeeds."""
        temporary = self._listing.with_suffix(".tmp")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                yield file
                _durable(file)
            temporary.replace(self._listing)
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(self._directory)

    def listing(self) -> Iterator[tuple[S3Object, bool]]:
        """Yield (object, wanted) for each listed object in ascending order of keys; `wanted`: it had to be fetched."""
        return _entries(self._listing)

    def save(self, marks: Marks, *, synced: bool) -> None:
        """Save which entries are finished.

        `synced` says that their files are durable, so that they also count after a crash of the cluster node.
        """
        with self._saving:
            if synced:
                self._synced = marks
            text = json.dumps({"boot": boot(), "written": marks, "synced": self._synced})
            if synced:
                replace(self._progress, text)
            else:
                temporary = self._progress.with_suffix(".tmp")
                temporary.write_text(text, encoding="utf-8")
                temporary.replace(self._progress)

    def finish(self, done: Done) -> None:
        """Record that the destination has all listed objects, in the versions of `done.replaced` where they differ."""
        if done.replaced:
            self.save(done.snapshot(), synced=True)
            self._known.unlink(missing_ok=True)
            self.fold()
            return
        self._listing.replace(self._known)
        self._progress.unlink(missing_ok=True)
        sync_directory(self._directory)


def _done(listing: Iterable[tuple[S3Object, bool]], marks: Marks) -> Iterator[S3Object]:
    below, beyond, replaced = int(marks["below"]), set(marks["beyond"]), marks["replaced"]
    for index, (entry, wanted) in enumerate(listing):
        if wanted and index >= below and index not in beyond:
            continue
        now = replaced.get(str(index), ())
        if now:
            yield S3Object(entry.key, int(now[0]), str(now[1]), int(now[2]))
        elif now is not None:
            yield entry


def _latest(newer: Iterable[S3Object], older: Iterable[S3Object]) -> Iterator[S3Object]:
    """Merge two streams that are sorted by key. Of two entries with the same key, only that of `newer` is yielded."""
    last = ""
    # The merge is stable: among equal keys, those of the first stream come first.
    for entry in heapq.merge(newer, older, key=lambda each: each.key):
        if entry.key != last:
            last = entry.key
            yield entry


def _entries(path: Path) -> Iterator[tuple[S3Object, bool]]:
    """Yield (object, wanted) for each line of a file up to the first invalid one; nothing if the file is missing."""
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                try:
                    yield lines.read(line)
                except (ValueError, TypeError):
                    return
    except FileNotFoundError:
        return


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _durable(file: TextIO) -> None:
    file.flush()
    os.fsync(file.fileno())
