"""Wait until a cluster node's cache has dropped the loaded blocks for which it has no space.

JuiceFS counts a block as cached once it is loaded. The block then waits in memory until it is written to the disk of
the cache. JuiceFS drops blocks when a write exceeds the size of the cache, when a write fails, and when its check of
the disk's free space, once a second, finds too little. So right after a load all blocks may be cached, and a moment
later only a few. After the last write, the blocks beyond the size of the cache are gone. After the next check, the
blocks beyond the free space are gone too. So this module waits for these two events, and needs to know neither size nor
free space. (`cache`, `flush`, `add`, `cleanupFull` and `checkFreeSpace` in `pkg/chunk/disk_cache.go` of JuiceFS 1.2 to
1.4; a cache in memory, `mem_cache.go`, drops at once.)

If a cache has never dropped a block, it had enough space so far. This module then does not wait for the check of the
free space, since that would take longer than most warmups. If the present load is the first that exceeds the space, the
dataset's status reports the dropped blocks.
"""

from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.stats import CACHED, EVICTIONS, numbers
from stowplan.schema.agents.exit_codes import ExitCode

NAMES = (".jfs.stats", ".stats")
"""Possible names of the file with the mount's statistics. The first is for a mount with the option `prefix-internal`.

A volume that is mounted by a `subPath` has neither file.
"""

LARGEST = 1 << 20
"""Maximum size of the statistics in bytes. They have about ten thousand bytes.

The limit is needed since anybody may create a file of this name in a volume without statistics.
"""

LOOK_SECONDS = 0.05
"""Seconds between two polls of the statistics."""

FREE_SPACE_SECONDS = 2.0
"""Seconds within which JuiceFS checks the free space at least once."""

MEMORY_SECONDS = 2.0
"""Seconds without a finished write after which a cache with `seems_memory` is considered a cache in memory."""

HANG_SECONDS = 60.0
"""Seconds after which a disk that finishes no write is considered hanging. JuiceFS itself waits 30 s."""

MOST_PAUSES = 5
"""Maximum number of checks of the free space to wait for, each of which dropped blocks.

If even the last one did, other programs are loading into the cache, and it would be of no use to wait longer.
"""


@dataclass(frozen=True, slots=True)
class Look:
    """Statistics of the cache of one mount. Counters begin with the start of the mount's process."""

    queued: float = 0
    """Bytes of blocks in memory that are not yet written to the disk of the cache."""
    begun: float = 0
    """Bytes of blocks whose write has begun."""
    ended: float = 0
    """Number of finished writes, including failed ones."""
    dropped: float = 0
    """Number of blocks that the cache has dropped."""
    held: float = 0
    """Bytes in the cache, with those that JuiceFS adds to each block."""
    seems_memory: bool = False
    """True if all blocks are being written and no write has ever finished.

    This is always so for a cache in memory, but for a cache on disk only at the start.
    """


@dataclass(frozen=True)
class Settling:
    """Wait for the cache of one mount. Call `look` before a load, and `wait` with its `begun` after the load."""

    mount: Path
    stop: Stop

    def look(self) -> Look:
        """Return the present statistics of the cache; all 0 for a volume without a file with statistics."""
        return self._read() or Look()

    def wait(self, begun: float) -> None:
        """Wait until the cache has dropped the blocks for which it has no space.

        `begun` is `Look.begun` as it was before the load. Returns at once if the cache has written nothing since then.
        Raises AttemptError TRANSIENT (10) if the cache's disk hangs, and StoppedError if the work must stop.
        """
        first = self._read()
        if first is None:
            self.stop.sleep(FREE_SPACE_SECONDS)
        elif first.queued or first.begun != begun:
            last = self._await_writes(first)
            if last.dropped:
                self._await_free_space(last)

    def _await_writes(self, first: Look) -> Look:
        last, silence = first, 0.0
        # Other programs may load all the time. Blocks are written in the order of their loading.
        while last.queued and last.begun - first.begun <= first.queued:
            if last.seems_memory and silence >= MEMORY_SECONDS:
                break
            if silence >= HANG_SECONDS:
                message = f"The disk of this node's cache has written nothing for {HANG_SECONDS:.0f} s"
                raise AttemptError(ExitCode.TRANSIENT, "CacheHangs", message)
            self.stop.sleep(LOOK_SECONDS)
            look = self._read() or last
            silence = silence + LOOK_SECONDS if look.ended == last.ended else 0
            last = look
        return last

    def _await_free_space(self, last: Look) -> None:
        for _ in range(MOST_PAUSES):
            self.stop.sleep(FREE_SPACE_SECONDS)
            look = self._read() or last
            if look.dropped == last.dropped:
                return
            last = look

    def _read(self) -> Look | None:
        for name in NAMES:
            text = safe_files.read(self.mount, name, LARGEST)
            if text is None:
                continue
            found = numbers(text.decode(errors="replace"))
            ended = found.get("juicefs_blockcache_write_hist_seconds_total", 0)
            writes, blocks = (found.get(f"juicefs_blockcache_{each}", 0) for each in ("writes", "blocks"))
            return Look(
                queued=found.get("juicefs_store_cache_size_bytes", 0),
                begun=found.get("juicefs_blockcache_write_bytes", 0),
                ended=ended,
                # A cache that evicts nothing drops the new blocks instead.
                dropped=found.get(EVICTIONS, 0) + found.get("juicefs_blockcache_drops", 0),
                held=found.get(CACHED, 0),
                seems_memory=not ended and writes >= blocks,
            )
        return None
