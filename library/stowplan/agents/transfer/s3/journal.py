"""What a download remembers: which version of which object lies in the destination.

Three files, in the state directory of the transfer:
- `known.jsonl`: entries that are there, in ascending order of keys;
- `listing.jsonl`: the source as it was listed for the run that is under way, in the same order;
- `progress.json`: which entries of that listing are done. What no longer agrees with the file's size and time is
  fetched again, so a loss of these files costs time and nothing else.
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
from stowplan.agents.transfer.s3.protocol import entry as lines
from stowplan.agents.transfer.s3.protocol.entry import Entry

Marks = dict[str, Any]

WINDOW = 10_000
"""Entries that may be done before an earlier one is."""


@dataclass
class Done:
    """Which entries of the listing are done, counted from 0: all below `below`, and those of `beyond`."""

    below: int = 0
    beyond: set[int] = field(default_factory=set)
    replaced: dict[int, Entry | None] = field(default_factory=dict)
    """Of those: entries that changed since they were listed, as they are now, and None where the file failed."""
    _changed: Condition = field(default_factory=Condition)

    def add(self, index: int) -> None:
        with self._changed:
            self.beyond.add(index)
            while self.below in self.beyond:
                self.beyond.remove(self.below)
                self.below += 1
            self._changed.notify_all()

    def replace(self, index: int, entry: Entry | None) -> None:
        with self._changed:
            self.replaced[index] = entry
        self.add(index)

    def wait_for_room(self, index: int, stop: Stop) -> None:
        """Holds back whoever is too far ahead of the oldest entry that is not done; StoppedError."""
        with self._changed:
            while index - self.below > WINDOW:
                stop.check()
                self._changed.wait(0.2)

    def snapshot(self) -> Marks:
        """The same as plain data."""
        with self._changed:
            replaced = {
                str(index): entry and [entry.size, entry.etag, entry.modified] for index, entry in self.replaced.items()
            }
            return {"below": self.below, "beyond": sorted(self.beyond), "replaced": replaced}


class Ledger:
    """The three files of one destination."""

    def __init__(self, directory: Path) -> None:
        self._known = directory / "known.jsonl"
        self._listing = directory / "listing.jsonl"
        self._progress = directory / "progress.json"
        self._directory = directory
        self._saving = Lock()
        self._synced: Marks | None = None

    def fold(self) -> None:
        """Takes what a run has done that did not come to its end into `known.jsonl`."""
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

    def known(self) -> Iterator[Entry]:
        """What lies in the destination, in order."""
        return (entry for entry, _ in _entries(self._known))

    @contextmanager
    def new_listing(self) -> Iterator[TextIO]:
        """A file for the lines of a new listing, which becomes that of the run if all goes well."""
        temporary = self._listing.with_suffix(".tmp")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                yield file
                _durable(file)
            temporary.replace(self._listing)
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(self._directory)

    def listing(self) -> Iterator[tuple[Entry, bool]]:
        """The source as it was listed, in order, and of each entry whether it had to be fetched."""
        return _entries(self._listing)

    def save(self, marks: Marks, *, synced: bool) -> None:
        """Remembers how far the run was; `synced` if all of it is durable by now, so also after a crash of the node."""
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
        """The run is complete: what it listed, as it is now, is what lies in the destination."""
        if done.replaced:
            self.save(done.snapshot(), synced=True)
            self._known.unlink(missing_ok=True)
            self.fold()
            return
        self._listing.replace(self._known)
        self._progress.unlink(missing_ok=True)
        sync_directory(self._directory)


def _done(listing: Iterable[tuple[Entry, bool]], marks: Marks) -> Iterator[Entry]:
    below, beyond, replaced = int(marks["below"]), set(marks["beyond"]), marks["replaced"]
    for index, (entry, wanted) in enumerate(listing):
        if wanted and index >= below and index not in beyond:
            continue
        now = replaced.get(str(index), ())
        if now:
            yield Entry(entry.key, int(now[0]), str(now[1]), int(now[2]))
        elif now is not None:
            yield entry


def _latest(newer: Iterable[Entry], older: Iterable[Entry]) -> Iterator[Entry]:
    """Both in order; of two entries with one key the newer one."""
    last = ""
    # A merge is stable: of equals those of the first input come first.
    for entry in heapq.merge(newer, older, key=lambda each: each.key):
        if entry.key != last:
            last = entry.key
            yield entry


def _entries(path: Path) -> Iterator[tuple[Entry, bool]]:
    """Of a file that may not be there. A line that is broken ends it: nothing is known of the rest."""
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
