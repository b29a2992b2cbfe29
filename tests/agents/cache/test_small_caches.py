"""Warmups of nodes whose cache is smaller than the load.

JuiceFS counts a block as cached once it is loaded, and writes it to the disk of the cache later. Only then, or when it
checks the free space of the disk, does it find that the space is too small.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.agents.cache.conftest import NewDisk, NewMounts, NewVolume
from tests.agents.cache.task_agent import Dataset, warmup_fields
from tests.agents.cache.volume import FORGETS, Mount, Store
from tests.agents.kills import ends
from tests.agents.waiting import until

MIB = 1 << 20
BLOCK = 4 * MIB
BLOCKS = 16
"""As many as JuiceFS takes before a single one of them is written: one that it writes, and a queue of 15."""


@pytest.fixture
def large(dataset: Dataset, mounts: NewMounts) -> Dataset:
    """A volume with a file for each of the blocks."""
    (writer,) = mounts(1)
    for number in range(BLOCKS):
        (writer.path / str(number)).write_bytes(os.urandom(BLOCK))
    return dataset


def test_a_dataset_larger_than_its_cache_warms_what_fits_and_ends_well(large: Dataset, mounts: NewMounts) -> None:
    """Of 40 MiB, JuiceFS keeps 95% when they are full: 9 blocks, each with 4 KiB more."""
    (node,) = mounts(1, options=("--cache-size=40",))
    ended = large.warmup(node, threshold=95)
    assert ended.code == 0, ended.output
    (message,) = ended.said("CacheTooSmall")
    assert message.endswith(
        "of 64 MiB are in the cache of this node, which has space for 36 MiB:"
        " a size of 68 MiB would do, with as much disk or memory"
    )
    assert 8 * BLOCK <= ended.last["bytesDone"] <= 9 * BLOCK
    assert (ended.last["bytesTotal"], ended.last["message"]) == (BLOCKS * BLOCK, message)
    assert 8 <= blocks(node) <= 9


def test_a_cache_of_the_size_that_was_named_holds_the_dataset(large: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=("--cache-size=68",))
    ended = large.warmup(node)
    assert ended.code == 0, ended.output
    assert ended.said("CacheTooSmall") == []
    assert blocks(node) == BLOCKS


def test_little_is_fetched_that_the_cache_drops_again(dataset: Dataset, mounts: NewMounts) -> None:
    """Loading ends soon after the cache is full. The mount ends the files that it has begun."""
    (writer,) = mounts(1)
    for number in range(20):
        (writer.path / str(number)).write_bytes(os.urandom(20 * MIB))
    (node,) = mounts(1, options=("--cache-size=100", "--download-limit=400"))
    ended = dataset.warmup(node, threshold=95, threads=2)
    assert ended.code == 0, ended.output
    assert len(ended.said("CacheTooSmall")) == 1
    assert node.stats()["juicefs_object_request_data_bytes_GET"] < 300 * MIB
    assert 80 * MIB <= ended.last["bytesDone"] <= 100 * MIB


def test_a_cache_that_is_full_of_other_files_makes_room(large: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=("--cache-size=80", *FORGETS))
    assert large.warmup(node).code == 0
    (writer,) = mounts(1, options=FORGETS)
    for number in range(BLOCKS):
        (writer.path / str(number)).write_bytes(os.urandom(BLOCK))
    ended = large.warmup(node, "next", threshold=80)
    assert ended.code == 0, ended.output
    assert ended.said("CacheTooSmall") == []


def test_a_file_that_is_larger_than_the_cache_is_cached_in_part(dataset: Dataset, mounts: NewMounts) -> None:
    (writer, node) = (mounts(1)[0], mounts(1, options=("--cache-size=20",))[0])
    (writer.path / "large").write_bytes(os.urandom(10 * BLOCK))
    ended = dataset.warmup(node, threshold=95)
    assert ended.code == 0, ended.output
    assert len(ended.said("CacheTooSmall")) == 1
    assert ended.last["bytesDone"] >= 3 * BLOCK


def test_a_storage_that_lost_its_blocks_is_no_small_cache(large: Dataset, mounts: NewMounts, tmp_path: Path) -> None:
    (node,) = mounts(1)
    shutil.rmtree(tmp_path / "blocks")
    ended = large.warmup(node, threshold=95)
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
    """JuiceFS frees what others need once a second. From then on nobody takes the disk for one with free space."""
    disk = new_disk(256)
    (disk / "others").write_bytes(bytes(150 * MIB))
    options = (f"--cache-dir={disk}/cache", "--cache-size=128", "--free-space-ratio=0.5")
    (node,) = mounts(1, options=options)
    assert large.warmup(node, "first", threshold=0).code == 0
    until(lambda: blocks(node) < BLOCKS)
    ended = large.warmup(node, threshold=95)
    assert ended.code == 0, ended.output
    assert len(ended.said("CacheTooSmall")) == 1
    assert blocks(node) < BLOCKS


def test_a_cache_in_memory(large: Dataset, mounts: NewMounts) -> None:
    """It has no disk to wait for, however large or small it is."""
    (node, small) = (mounts(1, options=("--cache-dir=memory", f"--cache-size={size}"))[0] for size in (256, 16))
    ended = large.warmup(node)
    assert ended.code == 0, ended.output
    assert blocks(node) == BLOCKS
    ended = large.warmup(small)
    assert ended.code == 0, ended.output
    assert len(ended.said("CacheTooSmall")) == 1
    assert 3 <= blocks(small) <= 4


def blocks(node: Mount) -> float:
    return node.stats()["juicefs_blockcache_blocks"]
