"""Waits until what was loaded into the cache of a node stays there.

A block is cached for JuiceFS from when it is loaded. It waits in memory until it is written to the disk of the cache;
only then, or if that fails, or when JuiceFS looks once a second whether the disk has the free space that it is to have,
blocks are dropped. So right after a load all of it may be cached, of which little is a moment later. Neither size nor
free space need to be known: after the last write all is dropped that is more than the cache may hold, and after the
next look all for which the disk has no room. (`cache`, `flush`, `add`, `cleanupFull` and `checkFreeSpace` in
`pkg/chunk/disk_cache.go` of JuiceFS 1.2 to 1.4; a cache in memory, `mem_cache.go`, drops at once.)

A cache that never dropped anything has had room so far, and that look is not waited for: it would take longer than most
warmups. If such a load is the first to leave too little room, what is dropped of it is told by the dataset's status.
"""

from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.stats import numbers
from stowplan.schema.agents.exit_codes import ExitCode

NAMES = (".jfs.stats", ".stats")
"""The first where the mount has the option `prefix-internal`. A volume that is mounted by a `subPath` has neither."""

LARGEST = 1 << 20
"""Bytes of the statistics, which are some ten thousand. Where the volume has no such file, anybody may make one."""

LOOK_SECONDS = 0.05
FREE_SPACE_SECONDS = 2.0
"""In this time JuiceFS looks after the free space at least once."""

MEMORY_SECONDS = 2.0
"""A disk that has not written one block in this time, and has no more than it writes at this moment, is none."""

HANG_SECONDS = 60.0
"""A disk that does not write a single block in this time hangs: JuiceFS itself gives it 30 s."""

MOST_PAUSES = 5
"""So often blocks may be dropped in the time of a look: then others are loading, and nothing is settled for good."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What a client says of its cache; counts are from its start on."""

    queued: float
    """Bytes that wait for the disk."""
    begun: float
    """Bytes of blocks whose write has begun."""
    ended: float
    """Number of writes that have ended, well or not."""
    dropped: float
    seems_memory: bool
    """All blocks are being written, and none ever was: a cache in memory says so for ever, a disk in the beginning."""


@dataclass(frozen=True)
class Settling:
    """A cache that is loaded between `begin` and `wait`."""

    mount: Path
    stop: Stop

    def begin(self) -> float:
        """How much was written so far, for `wait`."""
        look = self._look()
        return look.begun if look else 0

    def wait(self, begun: float) -> None:
        """Returns once the cache has dropped what it has no room for: at once if it has got nothing since `begun`.

        AttemptError (10) if the disk of the cache hangs; StoppedError if there is to be no more work.
        """
        first = self._look()
        if first is None:
            self.stop.sleep(FREE_SPACE_SECONDS)
        elif first.queued or first.begun != begun:
            last = self._await_writes(first)
            if last.dropped:
                self._await_free_space(last)

    def _await_writes(self, first: _Look) -> _Look:
        last, silence = first, 0.0
        # Others may load all the time. Blocks are written in the order in which they were loaded.
        while last.queued and last.begun - first.begun <= first.queued:
            if last.seems_memory and silence >= MEMORY_SECONDS:
                break
            if silence >= HANG_SECONDS:
                message = f"The disk of this node's cache has written nothing for {HANG_SECONDS:.0f} s"
                raise AttemptError(ExitCode.TRANSIENT, "CacheHangs", message)
            self.stop.sleep(LOOK_SECONDS)
            look = self._look() or last
            silence = silence + LOOK_SECONDS if look.ended == last.ended else 0
            last = look
        return last

    def _await_free_space(self, last: _Look) -> None:
        for _ in range(MOST_PAUSES):
            self.stop.sleep(FREE_SPACE_SECONDS)
            look = self._look() or last
            if look.dropped == last.dropped:
                return
            last = look

    def _look(self) -> _Look | None:
        for name in NAMES:
            text = safe_files.read(self.mount, name, LARGEST)
            if text is None:
                continue
            found = numbers(text.decode(errors="replace"))
            ended = found.get("juicefs_blockcache_write_hist_seconds_total", 0)
            writes, blocks = (found.get(f"juicefs_blockcache_{each}", 0) for each in ("writes", "blocks"))
            return _Look(
                queued=found.get("juicefs_store_cache_size_bytes", 0),
                begun=found.get("juicefs_blockcache_write_bytes", 0),
                ended=ended,
                dropped=found.get("juicefs_blockcache_evicts", 0),
                seems_memory=not ended and writes >= blocks,
            )
        return None
