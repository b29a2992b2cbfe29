"""Comparison of what the source lists with what the destination has, before a sync changes anything."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from stowplan.agents.attempt.progress import Progress
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry
from stowplan.agents.cache.drivers.juicefs.listing.extra import UnlistedFiles
from stowplan.agents.cache.drivers.juicefs.listing.record import NewVersionRecord, VersionRecord
from stowplan.agents.cache.drivers.juicefs.listing.wanted import WantedKeys
from stowplan.agents.copying.keys import KeyCheck
from stowplan.agents.copying.patterns import Patterns
from stowplan.schema.agents.marker import STATE_DIRECTORY

SPECIAL = (".accesslog", ".config", ".control", ".stats", ".trash")
"""Names that JuiceFS keeps for itself in the root of a volume (`pkg/vfs/internal.go`)."""


_T = TypeVar("_T")


@dataclass(frozen=True)
class Choice:
    """Which objects of the source a sync copies, and by what it knows a copy."""

    patterns: Patterns
    """Patterns of the spec. If there are any, `juicefs sync` gets the keys one by one: its own mean something else."""
    stem: str = ""
    """Beginning of the names of all files that are copied, below the destination's folder."""
    reserved: frozenset[str] = frozenset({STATE_DIRECTORY})
    """First segments of keys that are not copied."""
    no_data: frozenset[str] = frozenset({STATE_DIRECTORY})
    """First segments of files of the destination that hold no data of users."""
    times: bool = True
    """False if the source has no modification times: then files are compared by size."""


@dataclass
class Comparison:
    """Result of a comparison, and the keys that `juicefs sync` would not copy by itself."""

    choice: Choice
    record: VersionRecord
    wanted: WantedKeys
    """Keys to fetch one by one: files that look unchanged to JuiceFS, or with patterns all that is to be copied."""
    extra: UnlistedFiles | None
    """What the destination has besides; None if options say what is deleted, or select what is copied."""
    seen: int = 0
    """Number of all entries of the source."""
    listed: int = 0
    """Number of the objects that are to be files of the destination in the end; `bytes` is their size."""
    bytes: int = 0
    unchanged: int = 0
    unchanged_bytes: int = 0
    others: int = 0
    """Number of files that are missing or have another size: a plain `juicefs sync` copies them."""
    proven: bool = True
    """Whether every unchanged file is known to be the listed version, by its size, its time and its ETag."""
    before: NewVersionRecord = field(default_factory=NewVersionRecord)
    """Record to write before the copy."""
    after: NewVersionRecord = field(default_factory=NewVersionRecord)
    """Record to write after it."""
    _check: KeyCheck = field(default_factory=lambda: KeyCheck(folds_case=False))

    @property
    def changed(self) -> int:
        """Number of files that are to be copied."""
        return self.others + self.wanted.count

    def run(
        self,
        source: Iterable[Entry],
        chosen: Iterable[str] | None,
        there: Iterable[Entry] | None,
        progress: Progress,
    ) -> None:
        """Compare listings in ascending order of keys. Call this once. What is left out is counted in `progress`.

        `chosen` are the keys that the options of the sync select; None for all. `there` is what the destination has;
        None if the options say what is copied. Raises AttemptError CONFLICT (5) if a key cannot be a file.
        """
        files = _InOrder(((each.order, each) for each in there or ()), self._pass)
        keys = _InOrder(((key.encode(errors="surrogateescape"), key) for key in chosen or ()), lambda _: None)
        with self.wanted.adding() as add:
            for entry in source:
                self.seen += 1
                if entry.key.endswith("/") and not entry.size:
                    continue
                if entry.key.partition("/")[0] in self.choice.reserved:
                    progress.leave_out("reserved", entry.key)
                elif (keys.at(entry.order) is None) if chosen is not None else not self.choice.patterns.take(entry.key):
                    progress.leave_out("excluded", entry.key)
                elif self._check.look(self.choice.stem + entry.key, entry.size):
                    self.listed += 1
                    self.bytes += entry.size
                    if there is not None:
                        self._look(entry, files.at(entry.order), add)
                    if self.extra:
                        self.extra.listed(entry)
            files.end()
        if self._check.count:
            raise self._check.error("Nothing was copied")

    def _pass(self, there: Entry) -> None:
        """Take a file or folder of the destination that is none of the files to copy."""
        first = (self.choice.stem + there.key).partition("/")[0]
        if self.extra and first not in self.choice.no_data and not there.key.endswith("/"):
            self.extra.meet(there)

    def _look(self, entry: Entry, there: Entry | None, add: Callable[[str, int], None]) -> None:
        """Compare an object with the file of its key; `there` is None if there is no such file."""
        has_size = there is not None and there.size == entry.size
        is_there = there is not None and (entry.stamp.agrees(there.stamp) if self.choice.times else has_size)
        if not is_there:
            self._note(entry, adopted=False)
            if has_size or self.choice.patterns.given:
                add(entry.key, entry.size)
            else:
                self.others += 1
            return
        state = self.record.state(entry) if entry.etag else "unknown"
        if state == "other":
            # Until it is copied, a killed attempt leaves the old version behind.
            self.before.keep(self.record.find(entry) or b"")
            self.after.add(entry, adopted=False)
            add(entry.key, entry.size)
            return
        self.unchanged += 1
        self.unchanged_bytes += entry.size
        self.proven &= state == "copied"
        self._note(entry, adopted=state != "copied")

    def _note(self, entry: Entry, *, adopted: bool) -> None:
        for each in (self.before, self.after) if entry.etag else ():
            each.add(entry, adopted=adopted)


class _InOrder(Generic[_T]):
    """Look-up in a stream of values with ascending bytes. They must be asked for in ascending order too.

    Each value that is not asked for goes to `passed`.
    """

    def __init__(self, values: Iterator[tuple[bytes, _T]], passed: Callable[[_T], None]) -> None:
        self._values, self._passed = values, passed
        self._next = next(values, None)

    def at(self, order: bytes) -> _T | None:
        """Return the value with these bytes; None if there is none, or if it was returned before."""
        while self._next and self._next[0] < order:
            self._passed(self._take(self._next))
        return self._take(self._next) if self._next and self._next[0] == order else None

    def end(self) -> None:
        """Pass all that is left."""
        while self._next:
            self._passed(self._take(self._next))

    def _take(self, found: tuple[bytes, _T]) -> _T:
        self._next = next(self._values, None)
        return found[1]
