"""Warmups of caches on slow and full disks, of more than 100 MiB, and of files of others."""

import os
from pathlib import Path

from tests.agents.cache.conftest import NewDisk, NewMounts, NewVolume
from tests.agents.cache.task_agent import Dataset, warmup_fields
from tests.agents.cache.test_small_caches import BLOCK, BLOCKS, MIB, blocks
from tests.agents.cache.volume import FORGETS, Store
from tests.agents.kills import ends
from tests.agents.waiting import until


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
