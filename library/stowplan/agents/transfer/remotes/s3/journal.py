"""Record of a download: which version of which object is in the destination.

Three files in the state directory of the transfer:

- `known.jsonl`: objects that are in the destination, in ascending order of keys;
- `listing.jsonl`: the objects that the current attempt listed in the source, in the same order;
- `progress.json`: which objects of that listing are finished, by their number in it.

An object is fetched again unless its file has the recorded size and time. So a loss of these files only costs time.
"""

import heapq
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from threading import Condition, Lock
from typing import Any, TextIO, TypeGuard

from stowplan.agents.attempt.claim.folder import ClaimFolder, durable
from stowplan.agents.attempt.safe_files import boot, json_object
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.remotes.s3.protocol import entry as lines
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object

_KNOWN, _LISTING, _PROGRESS = "known.jsonl", "listing.jsonl", "progress.json"
_OF_0_1_0 = ("known.tmp", "listing.tmp", "progress.tmp")
"""Unfinished files that a killed attempt of version 0.1.0 leaves."""

LONGEST_PROGRESS = 4 << 20
"""Maximum size in bytes of a progress file that is read: that of 20,000 objects that changed while they were fetched.

Others may write to the file. As Python objects its content can take twenty times as much.
"""

Marks = dict[str, Any]
"""Content of a `FinishedEntries` as plain data, by the names of its public fields, for `progress.json`."""

WINDOW = 10_000
"""Maximum distance in the listing from the oldest unfinished entry to an entry whose fetch begins."""


@dataclass
class FinishedEntries:
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


class Journal:
    """Files in a transfer's directory `state`. Call `fold`, fill a `new_listing`, `save` at times, and `finish`."""

    def __init__(self, state: ClaimFolder) -> None:
        self._state = state
        self._saving = Lock()
        self._synced: Marks | None = None

    def fold(self) -> None:
        """Merge the finished entries of an interrupted attempt's listing into `known.jsonl`, and delete the listing."""
        saved = json_object(self._state.read(_PROGRESS, LONGEST_PROGRESS)) or {}
        marks = saved.get("written" if saved.get("boot") == boot() != "" else "synced")
        if _is_valid(marks) and self._state.stat(_LISTING):
            with self._state.replacing(_KNOWN) as file:
                for entry in _latest(_done(self.listing(), marks), self.known()):
                    file.write(lines.written(entry, wanted=False))
                durable(file)
        for each in (_PROGRESS, _LISTING, *_OF_0_1_0):
            self._state.remove_file(each)
        self._state.sync()

    def known(self) -> Iterator[S3Object]:
        """Yield the objects that are in the destination, in ascending order of keys."""
        return (entry for entry, _ in _entries(self._state, _KNOWN))

    @contextmanager
    def new_listing(self) -> Iterator[TextIO]:
        """Yield a new file, for lines of `entry.written`. It becomes `listing.jsonl` if the block succeeds."""
        with self._state.replacing(_LISTING) as file:
            yield file
            durable(file)
        self._state.sync()

    def listing(self) -> Iterator[tuple[S3Object, bool]]:
        """Yield (object, wanted) for each object in the last `new_listing`, in ascending order of keys.

        `wanted` says that it had to be fetched when it was listed. Yields nothing without a listing, as after `fold` or
        `finish`, and ends before the first damaged line. Raises OSError.
        """
        return _entries(self._state, _LISTING)

    def save(self, marks: Marks, *, synced: bool) -> None:
        """Save which entries are finished. `marks` are of `FinishedEntries.snapshot`.

        `synced` says that their files are durable, so that they also count after a crash of the cluster node.
        """
        with self._saving:
            if synced:
                self._synced = marks
            text = json.dumps({"boot": boot(), "written": marks, "synced": self._synced})
            if synced:
                self._state.write(_PROGRESS, text)
            else:
                with self._state.replacing(_PROGRESS) as file:
                    file.write(text)

    def finish(self, done: FinishedEntries) -> None:
        """Record that all listed objects are durable, in the versions of `done.replaced` where those differ."""
        if done.replaced:
            self.save(done.snapshot(), synced=True)
            self._state.remove_file(_KNOWN)
            self.fold()
            return
        self._state.move(_LISTING, self._state, _KNOWN)
        self._state.remove_file(_PROGRESS)
        self._state.sync()


def _is_valid(marks: object) -> TypeGuard[Marks]:
    """Return whether saved marks have the form of those of `FinishedEntries.snapshot`: others may write to the file."""
    match marks:
        case {"below": int(), "beyond": list(beyond), "replaced": dict(replaced)}:
            versions = (each for each in replaced.values() if each is not None)
            good = all(isinstance(each, list) and lines.is_version(*each) for each in versions)
            return good and all(isinstance(each, int) for each in beyond)
        case _:
            return False


def _done(listing: Iterable[tuple[S3Object, bool]], marks: Marks) -> Iterator[S3Object]:
    below, beyond, replaced = marks["below"], set(marks["beyond"]), marks["replaced"]
    for index, (entry, wanted) in enumerate(listing):
        if wanted and index >= below and index not in beyond:
            continue
        now = replaced.get(str(index), ())
        if now:
            yield S3Object(entry.key, *now)
        elif now is not None:
            yield entry


def _latest(newer: Iterable[S3Object], older: Iterable[S3Object]) -> Iterator[S3Object]:
    """Merge two streams that are sorted by key. Of two entries with the same key, only that of `newer` is yielded."""
    # The merge is stable: among equal keys, those of the first stream come first.
    both = heapq.merge(newer, older, key=lambda each: each.key)
    for _, same in groupby(both, key=lambda each: each.key):
        yield next(same)


def _entries(state: ClaimFolder, name: str) -> Iterator[tuple[S3Object, bool]]:
    """Yield (object, wanted) for each line of a file up to the first invalid one; nothing if the file is missing."""
    for line in state.lines(name):
        try:
            yield lines.read(line.decode())
        except ValueError:
            return
