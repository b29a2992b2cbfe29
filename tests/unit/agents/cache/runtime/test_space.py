"""The space that is left in the cache of a node."""

from fractions import Fraction
from pathlib import Path

import pytest

from stowplan.agents.cache.drivers.api import Pulse, Trouble
from stowplan.agents.cache.runtime.space import Space, available_memory, expires, memory_share

MIB = 1 << 20


def meminfo(folder: Path, mib: int) -> Path:
    """Write a file in the format of `/proc/meminfo`."""
    file = folder / "meminfo"
    file.write_text(f"MemTotal:   8000000 kB\nMemFree:   7 kB\nMemAvailable:   {mib << 10:>7} kB\nHugePages_Free: 0\n")
    return file


def space(folder: Path, share: Fraction, *, mib: int = 100, ages: bool = False) -> Space:
    """Return the space of a cache of 400 MiB on a node with so many MiB of available memory."""
    return Space(400 * MIB, share, ages, meminfo(folder, mib))


@pytest.mark.parametrize(
    ("share", "cached", "left"),
    [
        (Fraction(1), 0, 100),
        (Fraction(1), 350, 50),
        (Fraction(0), 0, 400),
        (Fraction(1, 2), 0, 200 + 100),
        (Fraction(1, 2), 300, 50 + 50),
        (Fraction(1), 500, 0),
    ],
)
def test_a_cache_in_memory_takes_no_more_than_the_node_has(
    tmp_path: Path, share: Fraction, cached: int, left: int
) -> None:
    assert space(tmp_path, share).left(Pulse(cached * MIB)) == left * MIB


def test_memory_that_programs_take_or_free_counts_at_the_next_check(tmp_path: Path) -> None:
    tested = space(tmp_path, Fraction(1))
    assert tested.left(Pulse(0)) == 100 * MIB
    meminfo(tmp_path, 1)
    assert tested.left(Pulse(0)) == 1 * MIB
    meminfo(tmp_path, 1000)
    assert tested.left(Pulse(0)) == 400 * MIB


@pytest.mark.parametrize("text", ["", "MemAvailable: \n", "MemAvailable: many kB\n", "MemFree: 1 kB\n"])
def test_a_node_that_does_not_tell_its_memory_has_the_budget(tmp_path: Path, text: str) -> None:
    file = tmp_path / "meminfo"
    file.write_text(text)
    assert available_memory(file) is None
    assert available_memory(tmp_path / "missing") is None
    assert Space(400 * MIB, Fraction(1), expires=False, memory_file=file).left(Pulse(0)) == 400 * MIB


def test_this_machine_tells_its_memory() -> None:
    assert (available_memory() or 0) > MIB


def test_a_mount_that_does_not_answer_leaves_the_space_unknown(tmp_path: Path) -> None:
    assert space(tmp_path, Fraction(0)).left(Pulse(None, Trouble("MountHung", "hung"))) is None


def test_a_cache_that_drops_blocks_has_no_space_left_until_it_grows_again(tmp_path: Path) -> None:
    tested = space(tmp_path, Fraction(0))
    found = [
        tested.left(Pulse(cached * MIB, evictions=evictions))
        for cached, evictions in [
            (100, 3),
            (200, 3),
            (190, 8),
            (190, 8),
            (0, 8),
            (150, 8),
            (210, 8),
            (200, 9),
            (200, 0),
        ]
    ]
    #        before  full       cleared  grown     full  another process of the mount
    assert [each and each // MIB for each in found] == [300, 200, 0, 0, 190, 40, 190, 0, 200]


def test_blocks_that_are_dropped_because_of_their_age_say_nothing(tmp_path: Path) -> None:
    tested = space(tmp_path, Fraction(0), ages=True)
    assert [tested.left(Pulse(100 * MIB, evictions=count)) for count in (0, 9)] == [300 * MIB, 300 * MIB]


@pytest.mark.parametrize(
    ("directories", "named", "share"),
    [
        ("/dev/shm/imagenet", [], 1),
        ("memory", [], 1),
        ("/data", [], 0),
        ("/dev/shmoo", [], 0),
        ("/dev//shm/./a:/data", [], Fraction(1, 2)),
        ("/ram/a:/data/b:/dev/shm/c", ["/ram/a"], Fraction(2, 3)),
        ("", [], 0),
    ],
)
def test_the_share_of_a_cache_that_is_in_memory(directories: str, named: list[str], share: Fraction) -> None:
    assert memory_share(["attr-cache=1", f"cache-dir={directories}", "writeback"], named) == share


def test_options_without_directories() -> None:
    assert memory_share([], []) == 0
    assert [expires(["cache-expire=1h"]), expires(["cache-size=1", "cache-expires"]), expires([])] == [
        True,
        False,
        False,
    ]
