"""Warmups of nodes whose cache is smaller than the load.

JuiceFS counts a block as cached once it is loaded, and writes it to the disk of the cache later. Only then, or when it
checks the free space of the disk, does it find that the space is too small.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.cache.conftest import NewMounts, NewVolume
from tests.agents.cache.task_agent import Dataset, warmup_fields
from tests.agents.cache.volume import Mount, Store
from tests.agents.kills import ends
from tests.agents.waiting import until

MIB = 1 << 20
BLOCK = 4 * MIB
BLOCKS = 16
"""As many as JuiceFS takes before a single one of them is written: one that it writes, and a queue of 15."""

NewDisk = Callable[[int], Path]


@pytest.fixture
def large(dataset: Dataset, mounts: NewMounts) -> Dataset:
    """A volume with a file for each of the blocks."""
    (writer,) = mounts(1)
    for number in range(BLOCKS):
        (writer.path / str(number)).write_bytes(os.urandom(BLOCK))
    return dataset


@pytest.fixture
def new_disk(fuse: None, tmp_path: Path) -> Iterator[NewDisk]:
    """Makes a file system of so many MiB, in memory."""
    path = tmp_path / "disk"

    def make(size: int) -> Path:
        path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", path], check=True)
        return path

    yield make
    if path.is_mount():
        subprocess.run(["umount", "--lazy", path], check=True)


def test_a_cache_that_is_too_small(large: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=("--cache-size=16",))
    ended = large.warmup(node, threshold=95)
    assert (ended.code, ended.last["reason"]) == (10, "BelowThreshold"), ended.output
    assert large.warmup(node, "lenient", threshold=0).code == 0


def test_a_cache_whose_disk_is_slow(large: Dataset, mounts: NewMounts, new_volume: NewVolume, tmp_path: Path) -> None:
    """All that was loaded is in memory until the disk takes it, and is taken as cached there."""
    (disk,) = mounts(1, of=new_volume(Store("file", f"{tmp_path}/blocks-of-cache/")))
    (node,) = mounts(1, options=(f"--cache-dir={disk.path}/cache", "--cache-size=16", "--verbose"))
    until(lambda: "cached blocks (0 B)" in node.process.log.read_text(encoding="utf-8"))
    disk.freeze()
    try:
        with large.started("warmup", warmup_fields(node, threshold=95), "warm-abc") as process:
            until(lambda: node.stats()["juicefs_blockcache_blocks"] == BLOCKS)
            assert not ends(process, 3)
            disk.thaw()
            output, _ = process.communicate(timeout=60)
    finally:
        disk.thaw()
    assert process.returncode == 10, output
    assert "BelowThreshold" in output


def test_a_disk_that_is_full(large: Dataset, mounts: NewMounts, new_disk: NewDisk) -> None:
    """JuiceFS frees what others need once a second. From then on nobody takes the disk for one that has room."""
    disk = new_disk(256)
    (disk / "others").write_bytes(bytes(150 * MIB))
    options = (f"--cache-dir={disk}/cache", "--cache-size=128", "--free-space-ratio=0.5")
    (node,) = mounts(1, options=options)
    assert large.warmup(node, "first", threshold=0).code == 0
    until(lambda: blocks(node) < BLOCKS)
    ended = large.warmup(node, threshold=95)
    assert (ended.code, ended.last["reason"]) == (10, "BelowThreshold"), ended.output
    assert blocks(node) < BLOCKS


def test_a_cache_in_memory(large: Dataset, mounts: NewMounts) -> None:
    """It has no disk to wait for, however large or small it is."""
    (node, small) = (mounts(1, options=("--cache-dir=memory", f"--cache-size={size}"))[0] for size in (256, 16))
    ended = large.warmup(node)
    assert ended.code == 0, ended.output
    assert blocks(node) == BLOCKS
    ended = large.warmup(small)
    assert (ended.code, ended.last["reason"]) == (10, "BelowThreshold"), ended.output


def blocks(node: Mount) -> float:
    return node.stats()["juicefs_blockcache_blocks"]
