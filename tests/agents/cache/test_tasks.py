"""Warmups, clears and removals on mounted datasets."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.task_agent import Dataset, files, warmup_fields
from tests.agents.cache.volume import FORGETS, Mount
from tests.agents.kills import ends, works
from tests.agents.waiting import until

MIB = 1 << 20
DATA = {f"d{number % 3}/{number:03}": os.urandom(40_000) for number in range(30)} | {"large": os.urandom(9 * MIB)}
SIZE = sum(map(len, DATA.values()))


def fill(node: Mount, data: dict[str, bytes] = DATA) -> None:
    """Through a mount: what it writes is in its own cache."""
    for name, content in data.items():
        (node.path / name).parent.mkdir(parents=True, exist_ok=True)
        (node.path / name).write_bytes(content)


def cached(node: Mount) -> int:
    """Bytes of blocks in the node's cache; JuiceFS adds 4 KiB to each."""
    stats = node.stats()
    return int(stats["juicefs_blockcache_bytes"] - 4096 * stats["juicefs_blockcache_blocks"])


def test_a_warmup_loads_everything_on_one_node_alone(dataset: Dataset, mounts: NewMounts) -> None:
    writer, node, other = mounts(3)
    fill(writer)
    ended = dataset.warmup(node)
    assert ended.code == 0, ended.output
    assert (ended.last["filesDone"], ended.last["bytesDone"]) == (len(DATA), SIZE)
    assert cached(node) == SIZE
    assert cached(other) == 0
    assert dataset.warmup(node).code == 0


@pytest.mark.parametrize("strategy", ["sequence", "random"])
def test_partitions_share_the_files(dataset: Dataset, mounts: NewMounts, strategy: str) -> None:
    writer, one, two = mounts(3)
    fill(writer)
    shares = [
        dataset.warmup(node, partition=number, partitions=2, strategy=strategy)
        for number, node in enumerate((one, two))
    ]
    assert [each.code for each in shares] == [0, 0], shares
    assert sum(each.last["filesDone"] for each in shares) == len(DATA)
    assert cached(one) + cached(two) == SIZE
    assert 5 < shares[0].last["filesDone"] < len(DATA) - 5
    assert abs(shares[0].last["filesDone"] - shares[1].last["filesDone"]) <= (1 if strategy == "sequence" else 20)
    before = shares[0].last["filesDone"]
    assert dataset.warmup(one, "other-run", partitions=2, strategy=strategy).last["filesDone"] == before


def test_paths_and_lists_of_paths(dataset: Dataset, mounts: NewMounts) -> None:
    writer, node = mounts(2)
    names = {"with space ": b"1", "new\nline/x": b"22", "-dash*?[": b"333", "d0/\udce4": b"4444"}
    fill(writer, DATA | {os.fsdecode(name.encode(errors="surrogateescape")): data for name, data in names.items()})
    ended = dataset.warmup(node, paths=["d0", "d0/003", "-dash*?[", "/new\nline/"])
    assert ended.code == 0, ended.output
    size = sum(len(data) for name, data in DATA.items() if name.startswith("d0/"))
    assert ended.last["bytesDone"] == size + 4 + 3 + 2
    (writer.path / "list").write_text(f"d1\n{node.path}/large\nwith space \n\n", encoding="utf-8")
    ended = dataset.warmup(node, file="list")
    assert ended.code == 0, ended.output
    assert ended.last["filesDone"] == 10 + 1 + 1


def test_warmups_that_cannot_be(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    (node.path / "empty").touch()
    (node.path / "link").symlink_to("/etc")
    cases: list[tuple[dict[str, Any], int]] = [
        ({"paths": ["no/such"]}, 4),
        ({"paths": ["../out"]}, 2),
        ({"paths": ["link/x"]}, 2),
        ({"paths": [".stowplan"]}, 2),
        ({"paths": [".stats"]}, 2),
        ({"file": "no-list"}, 4),
        ({"file": "empty"}, 2),
        ({"partitions": 0}, 2),
        ({"mountPath": "/nonexistent"}, 10),
    ]
    for fields, code in cases:
        ended = dataset.warmup(node, **fields)
        assert ended.code == code, ended.output


def test_a_directory_that_is_no_mount(dataset: Dataset, tmp_path: Path, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/file").touch()
    fields: dict[str, Any] = {"mountPath": str(tmp_path / "plain")}
    for ended in (
        dataset.warmup(node, **fields),
        dataset.clear(node, **fields),
        dataset.run("rmr", {**fields, "paths": ["file"]}, "rmr-abc"),
    ):
        assert (ended.code, ended.last["reason"]) == (10, "NoMount")
    assert [each.name for each in (tmp_path / "plain").iterdir()] == ["file"]
    (tmp_path / "plain/file").unlink()
    assert dataset.warmup(node, **fields).code == 10


def test_a_warmup_of_an_empty_dataset(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    assert dataset.warmup(node).code == 0


def test_a_warmup_waits_for_its_sync(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put(DATA)
    (node,) = mounts(1)
    fields = warmup_fields(node, after="flowers-sync", partitions=2)
    with dataset.started("warmup", fields, "flowers-warmup-1-abc", 1) as process:
        # It looks every two seconds.
        until(lambda: works(process))
        assert not ends(process, 3)
        assert dataset.sync("flowers-sync-other").code == 0
        assert not ends(process, 3)
        assert dataset.sync("flowers-sync-abc").code == 0
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    marker = json.loads((node.path / ".stowplan/warmup/1.json").read_text(encoding="utf-8"))
    assert marker == {
        "format": 1,
        "run": "flowers-warmup-1-abc",
        "result": "succeeded",
        "exitCode": 0,
        "partition": 1,
        "partitions": 2,
        "sync": "flowers-sync-abc",
    }
    # A removal makes the sync work again; the dataset was complete all the same.
    assert dataset.rmr(node, "d0").code == 0
    assert dataset.warmup(node, "flowers-warmup-0-abc", after="flowers-sync").code == 0


def test_a_warmup_after_a_sync_on_top_leaves_no_marker(dataset: Dataset, mounts: NewMounts) -> None:
    """Jobs wait for the warmup after the sync that completed the dataset."""
    dataset.put(DATA)
    (node,) = mounts(1)
    assert dataset.sync("night-samplejob-abc", completes=False).code == 0
    ended = dataset.warmup(node, "night-samplejob-warmup-0-xyz", afterRun="night-samplejob-abc", marks=False)
    assert ended.code == 0, ended.output
    assert cached(node) >= SIZE
    assert not (node.path / ".stowplan/warmup").exists()


def test_a_warmup_whose_sync_has_failed(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    assert dataset.sync("flowers-sync-abc").code == 4
    ended = dataset.warmup(node, "flowers-warmup-0-abc", after="flowers-sync")
    assert (ended.code, ended.last["reason"]) == (4, "SyncFailed")


def test_a_clear_evicts_on_one_node_alone(dataset: Dataset, mounts: NewMounts) -> None:
    writer, node, other = mounts(3)
    fill(writer)
    for each in (node, other):
        assert dataset.warmup(each).code == 0
    ended = dataset.clear(node)
    assert ended.code == 0, ended.output
    assert cached(node) == 0
    assert cached(other) == SIZE
    assert files(node.path) == DATA
    assert dataset.clear(node).code == 0


def test_a_clear_of_one_cache_directory_clears_nothing(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    fill(node)
    assert dataset.warmup(node).code == 0
    ended = dataset.clear(node, cachePaths=["/data/a"])
    assert (ended.code, ended.last["reason"]) == (2, "PartOfCache"), ended.output
    assert cached(node) == SIZE


def test_a_clear_evicts_what_was_removed(dataset: Dataset, mounts: NewMounts) -> None:
    """Its blocks stay in the cache with the file in the trash of the volume, and nobody can ask for them."""
    (node,) = mounts(1, options=("-o", "allow_other"))
    fill(node)
    assert dataset.warmup(node).code == 0
    assert dataset.rmr(node, "d0", "large").code == 0
    assert cached(node) >= SIZE
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o777)
        ended = Dataset(dataset.volume, Path(home), dataset.storage, 65532).clear(node)
    assert ended.code == 0, ended.output
    until(lambda: cached(node) == 0)
    assert ended.last["filesDone"] < len(DATA)


def test_a_removal_takes_names_as_they_stand(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    data = {"d0/1": b"1", "d1/1": b"1", "d*/2": b"2", "-x/y": b"y", "b": b"b", "[a-z]": b"g", " ": b"blank"}
    fill(node, data)
    ended = dataset.rmr(node, "d*", "/-x/", "[a-z]", " ", "d0/../../x")
    assert ended.code == 2
    assert files(node.path) == data
    ended = dataset.rmr(node, "d*", "/-x/", "[a-z]", " ")
    assert ended.code == 0, ended.output
    assert files(node.path) == {"d0/1": b"1", "d1/1": b"1", "b": b"b"}
    again = dataset.rmr(node, "d*", "/-x/", "[a-z]", " ")
    assert "complete before" in again.last["message"]


def test_paths_that_are_not_removed(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    (node.path / "link").symlink_to("/etc")
    fill(node, {"a/b": b"b", "file": b"f"})
    bad = ("..", "", "a/../b", ".stowplan/runs", ".trash", ".control", "link/passwd", "file/x")
    for path, code in (*((each, 2) for each in bad), ("a/no", 4)):
        ended = dataset.rmr(node, "a", path)
        assert ended.code == code, ended.output
        assert files(node.path) == {"a/b": b"b", "file": b"f"}


def test_a_link_is_removed_and_not_what_it_leads_to(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    fill(node, {"a/b": b"b"})
    (node.path / "link").symlink_to("a")
    assert dataset.rmr(node, "link").code == 0
    assert files(node.path) == {"a/b": b"b"}
    assert not (node.path / "link").is_symlink()


def test_many_files_are_removed(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=("--entry-cache=300", "--attr-cache=300", "--dir-entry-cache=300"))
    fill(node, {f"a/{number % 7}/{number}": b"x" for number in range(300)})
    ended = dataset.rmr(node, "a")
    assert ended.code == 0, ended.output
    assert not (node.path / "a").exists()


def test_files_of_root_need_the_task_user(dataset: Dataset, mounts: NewMounts, tmp_path: Path) -> None:
    """What the old runtime wrote as root; a task of another user says which setting helps."""
    (node,) = mounts(1, options=("-o", "allow_other", *FORGETS))
    fill(node, {"d/a": b"old"})
    node.path.chmod(0o755)
    dataset.put({"d/a": b"new one"})
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o777)
        other = Dataset(dataset.volume, Path(home), dataset.storage, 65532)
        for ended in (other.sync(), other.rmr(node, "d")):
            assert ended.code == 3, ended.output
            assert "taskUser" in ended.last["message"]
        fill(node, {".stowplan/complete.json": b'{"format": 1, "run": "sync-abc"}'})
        ended = other.warmup(node, after="sync")
        assert ended.code == 3, ended.output
        assert "taskUser" in ended.last["message"]
    assert files(node.path) == {"d/a": b"old"}
    assert dataset.sync().code == 0
    assert files(node.path) == {"d/a": b"new one"}
    assert dataset.rmr(node, "d").code == 0
    assert files(node.path) == {}
