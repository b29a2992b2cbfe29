"""Warmups of nodes whose cache is smaller than the load.

JuiceFS counts a block as cached once it is loaded, and writes it to the disk of the cache later. Only then, or when it
checks the free space of the disk, does it find that the space is too small.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.task_agent import Dataset
from tests.agents.cache.volume import Mount

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


def test_a_storage_that_lost_its_blocks_is_no_small_cache(large: Dataset, mounts: NewMounts, tmp_path: Path) -> None:
    (node,) = mounts(1)
    shutil.rmtree(tmp_path / "blocks")
    ended = large.warmup(node, threshold=95)
    assert (ended.code, ended.last["reason"]) == (10, "BelowThreshold"), ended.output


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
