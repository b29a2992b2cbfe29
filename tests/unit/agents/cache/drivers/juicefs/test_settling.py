"""The time for which a warmup waits for its node's cache, by the client's statistics."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.settling import (
    FREE_SPACE_SECONDS,
    HANG_SECONDS,
    LOOK_SECONDS,
    MEMORY_SECONDS,
    MOST_PAUSES,
    Settling,
)


def said(*, queued: int = 0, begun: int = 100, ended: int = 10, dropped: int = 0, blocks: int = 20) -> str:
    """Return statistics of a client that has worked before."""
    return (
        f"juicefs_store_cache_size_bytes {queued}\njuicefs_blockcache_write_bytes {begun}\n"
        f"juicefs_blockcache_writes {ended + bool(queued)}\njuicefs_blockcache_write_hist_seconds_total {ended}\n"
        f"juicefs_blockcache_evicts {dropped}\njuicefs_blockcache_blocks {blocks}\n"
    )


class Steps(Stop):
    """Stop without real time: each sleep advances the client's statistics, and the last ones repeat."""

    def __init__(self, mount: Path, *texts: str) -> None:
        super().__init__()
        self.slept: list[float] = []
        self._file, self._texts = mount / ".stats", iter(texts)
        self._next()

    def _next(self) -> None:
        if text := next(self._texts, None):
            self._file.write_text(text, encoding="utf-8")

    def sleep(self, seconds: float) -> None:
        self.check()
        self.slept.append(seconds)
        self._next()


def waits(mount: Path, *texts: str, begun: float = 0) -> list[float]:
    """Return all sleeps."""
    steps = Steps(mount, *texts)
    Settling(mount, steps).wait(begun)
    return steps.slept


def test_cache_without_new_blocks_is_not_waited_for(tmp_path: Path) -> None:
    steps = Steps(tmp_path, said(begun=100))
    settling = Settling(tmp_path, steps)
    settling.wait(settling.look().begun)
    assert steps.slept == []


def test_blocks_are_written_before_the_free_space_is_checked(tmp_path: Path) -> None:
    texts = [said(queued=50), said(queued=20, begun=130, ended=11), said(begun=150, ended=13, dropped=1)]
    assert waits(tmp_path, *texts) == [LOOK_SECONDS, LOOK_SECONDS, FREE_SPACE_SECONDS]


def test_a_cache_that_never_dropped_a_block_has_enough_space(tmp_path: Path) -> None:
    texts = [said(queued=50), said(queued=20, begun=130, ended=11), said(begun=150, ended=13)]
    assert waits(tmp_path, *texts) == [LOOK_SECONDS, LOOK_SECONDS]


def test_blocks_written_meanwhile_count(tmp_path: Path) -> None:
    assert waits(tmp_path, said(begun=150, dropped=1), begun=100) == [FREE_SPACE_SECONDS]


def test_dropped_blocks_cause_another_check(tmp_path: Path) -> None:
    assert waits(tmp_path, said(dropped=1), said(dropped=3), said(dropped=3)) == [FREE_SPACE_SECONDS] * 2
    endless = (said(dropped=number) for number in range(1, 100))
    assert waits(tmp_path, *endless) == [FREE_SPACE_SECONDS] * MOST_PAUSES


def test_loads_of_other_programs_are_not_waited_for(tmp_path: Path) -> None:
    """The queue never becomes empty, but its former content is written once that many bytes are."""
    texts: Iterator[str] = (said(queued=50, begun=100 + 25 * number, ended=10 + number) for number in range(100))
    assert waits(tmp_path, *texts) == [LOOK_SECONDS] * 3


def test_disk_that_writes_nothing_hangs(tmp_path: Path) -> None:
    steps = Steps(tmp_path, said(queued=50))
    with pytest.raises(AttemptError) as raised:
        Settling(tmp_path, steps).wait(0)
    assert (raised.value.code, raised.value.reason) == (10, "CacheHangs")
    assert sum(steps.slept) == pytest.approx(HANG_SECONDS, abs=2 * LOOK_SECONDS)


def test_disk_that_hangs_from_its_first_block_on(tmp_path: Path) -> None:
    with pytest.raises(AttemptError, match="has written nothing"):
        waits(tmp_path, said(queued=50, ended=0, blocks=2))


def test_cache_in_memory_is_no_disk_that_hangs(tmp_path: Path) -> None:
    looks = waits(tmp_path, said(queued=50, ended=0, blocks=1))
    assert sum(looks) == pytest.approx(MEMORY_SECONDS, abs=2 * LOOK_SECONDS)


def test_a_stop_ends_the_wait(tmp_path: Path) -> None:
    steps = Steps(tmp_path, said(queued=50))
    steps.set("signal")
    with pytest.raises(StoppedError):
        Settling(tmp_path, steps).wait(0)


def test_volume_without_statistics_gets_its_time(tmp_path: Path) -> None:
    stop = Steps(tmp_path, said())
    (tmp_path / ".stats").unlink()
    settling = Settling(tmp_path, stop)
    settling.wait(settling.look().begun)
    assert stop.slept == [FREE_SPACE_SECONDS]


def test_statistics_under_their_other_name(tmp_path: Path) -> None:
    stop = Steps(tmp_path, said(queued=50))
    (tmp_path / ".stats").rename(tmp_path / ".jfs.stats")
    with pytest.raises(AttemptError, match="has written nothing"):
        Settling(tmp_path, stop).wait(0)
