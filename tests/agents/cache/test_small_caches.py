"""Warmups of nodes whose cache is smaller than the load.

JuiceFS counts a block as cached once it is loaded, and writes it to the disk of the cache later. Only then, or when it
checks the free space of the disk, does it find that the space is too small.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.cache.conftest import NewMounts, NewVolume
from tests.agents.cache.task_agent import Dataset, warmup_fields
from tests.agents.cache.volume import FORGETS, Mount, Store
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


def test_a_dataset_larger_than_its_cache_warms_what_fits_and_ends_well(large: Dataset, mounts: NewMounts) -> None:
    """Nothing is loaded that the cache would drop again: 9 blocks fit into 95% of 40 MiB."""
    (node,) = mounts(1, options=("--cache-size=40",))
    ended = large.warmup(node, threshold=95, cacheSizeMiB=40)
    assert ended.code == 0, ended.output
    assert ended.said("CacheTooSmall") == [
        "36 MiB of 64 MiB are in the cache of this node: its size is 40 MiB, and 68 MiB would do"
    ]
    assert (ended.last["bytesDone"], ended.last["bytesTotal"]) == (9 * BLOCK, BLOCKS * BLOCK)
    assert blocks(node) == 9
    stats = node.stats()
    assert stats["juicefs_blockcache_writes"] == 9
    assert stats["juicefs_blockcache_evicts"] == 0


def test_a_cache_of_the_size_that_was_named_holds_the_dataset(large: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=("--cache-size=68",))
    ended = large.warmup(node, cacheSizeMiB=68)
    assert ended.code == 0, ended.output
    assert ended.said("CacheTooSmall") == []
    assert blocks(node) == BLOCKS


def test_files_that_are_larger_than_the_cache_are_left_out(large: Dataset, mounts: NewMounts) -> None:
    """The smaller ones beside them are loaded."""
    (writer, node) = (mounts(1, options=("--cache-size=256", *FORGETS))[0], mounts(1, options=("--cache-size=20",))[0])
    (writer.path / "0").write_bytes(os.urandom(6 * BLOCK))
    ended = large.warmup(node, cacheSizeMiB=20, threshold=95)
    assert ended.code == 0, ended.output
    assert len(ended.said("CacheTooSmall")) == 1
    assert blocks(node) == 4


def test_a_cache_that_is_too_small_of_a_size_that_nobody_said(large: Dataset, mounts: NewMounts) -> None:
    """As in the configuration of an older Stowplan: what the cache drops tells it."""
    (node,) = mounts(1, options=("--cache-size=16",))
    ended = large.warmup(node, threshold=95)
    assert ended.code == 0, ended.output
    assert "no room for more" in ended.said("CacheTooSmall")[0]
    assert large.warmup(node, "lenient", threshold=0).said("CacheTooSmall") == []


def test_a_storage_that_lost_its_blocks_is_no_small_cache(large: Dataset, mounts: NewMounts, tmp_path: Path) -> None:
    (node,) = mounts(1)
    shutil.rmtree(tmp_path / "blocks")
    ended = large.warmup(node, threshold=95, cacheSizeMiB=256)
    assert (ended.code, ended.last["reason"]) == (10, "BelowThreshold"), ended.output


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
    assert process.returncode == 0, output
    assert "CacheTooSmall" in output


def test_a_disk_that_is_full(large: Dataset, mounts: NewMounts, new_disk: NewDisk) -> None:
    """JuiceFS frees what others need once a second. From then on nobody takes the disk for one that has room."""
    disk = new_disk(256)
    (disk / "others").write_bytes(bytes(150 * MIB))
    options = (f"--cache-dir={disk}/cache", "--cache-size=128", "--free-space-ratio=0.5")
    (node,) = mounts(1, options=options)
    assert large.warmup(node, "first", threshold=0).code == 0
    until(lambda: blocks(node) < BLOCKS)
    ended = large.warmup(node, threshold=95)
    assert ended.code == 0, ended.output
    assert "no room for more" in ended.said("CacheTooSmall")[0]
    assert blocks(node) < BLOCKS


def test_a_cache_in_memory(large: Dataset, mounts: NewMounts) -> None:
    """It has no disk to wait for, however large or small it is."""
    (node, small) = (mounts(1, options=("--cache-dir=memory", f"--cache-size={size}"))[0] for size in (256, 16))
    ended = large.warmup(node)
    assert ended.code == 0, ended.output
    assert blocks(node) == BLOCKS
    ended = large.warmup(small, cacheSizeMiB=16)
    assert ended.code == 0, ended.output
    assert len(ended.said("CacheTooSmall")) == 1
    assert blocks(small) == 3


def blocks(node: Mount) -> float:
    return node.stats()["juicefs_blockcache_blocks"]
