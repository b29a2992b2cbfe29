"""Wait until the blocks that were loaded into a node's cache stay there.

JuiceFS counts a block as cached once it is loaded. The block then waits in memory until it is written to the disk of
the cache. Blocks are dropped after that write, after a failed write, and by a check of the disk's free space once a
second. So right after a load all blocks may be cached, and a moment later only a few. Neither size nor free space need
to be known: blocks beyond the size of the cache are gone after the last write, and blocks beyond the free space after
the next check. (`cache`, `flush`, `add`, `cleanupFull` and `checkFreeSpace` in `pkg/chunk/disk_cache.go` of JuiceFS 1.2
to 1.4; a cache in memory, `mem_cache.go`, drops at once.)

A cache that never dropped a block had enough space so far. The check is then not waited for, since it would take longer
than most warmups. If such a load is the first to exceed the space, the dataset's status reports the dropped blocks.
"""

from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.stats import numbers
from stowplan.schema.agents.exit_codes import ExitCode

NAMES = (".jfs.stats", ".stats")
"""First name: with the mount option `prefix-internal`. A volume mounted by a `subPath` has neither file."""

LARGEST = 1 << 20
"""Maximum size in bytes; statistics have about ten thousand. In a volume without such a file anybody may create one."""

LOOK_SECONDS = 0.05
FREE_SPACE_SECONDS = 2.0
"""Seconds within which JuiceFS checks the free space at least once."""

MEMORY_SECONDS = 2.0
"""Seconds after which a cache that has not finished a write, and queues no more than it is writing, is considered a
cache in memory.
"""

HANG_SECONDS = 60.0
"""Seconds after which a disk that finishes no write is considered hanging. JuiceFS itself waits 30 s."""

MOST_PAUSES = 5
"""Maximum number of rounds with dropped blocks. After that other programs are loading, and the cache never settles."""


@dataclass(frozen=True, slots=True)
class _Look:
    """Statistics of a client's cache. Counters begin with the client's start."""

    queued: float
    """Bytes that wait for the disk."""
    begun: float
    """Bytes of blocks whose write has begun."""
    ended: float
    """Number of finished writes, including failed ones."""
    dropped: float
    seems_memory: bool
    """True if all blocks are being written and none ever was: always so for a cache in memory, for a disk only at the
    start.
    """


@dataclass(frozen=True)
class Settling:
    """Cache that is loaded between `begin` and `wait`."""

    mount: Path
    stop: Stop

    def begin(self) -> float:
        """Return the bytes written so far, as the argument of `wait`."""
        look = self._look()
        return look.begun if look else 0

    def wait(self, begun: float) -> None:
        """Return once the cache has dropped its excess blocks; at once if it has written nothing since `begun`.

        Raises AttemptError TRANSIENT (10) if the cache's disk hangs, and StoppedError if the work must stop.
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
        # Other programs may load all the time. Blocks are written in the order of their loading.
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
