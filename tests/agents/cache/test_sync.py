"""Syncs from a bucket into a volume: their results, syncs without changes, and failures."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from stowplan.agents.cache.drivers.juicefs.listing.brought import SUFFIX
from stowplan.agents.cache.drivers.juicefs.listing.record import file_name
from stowplan.agents.wait.dataset.readiness import look
from stowplan.schema.remotes.s3_listing import ListingHash
from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.redis_server import Redis
from tests.agents.cache.task_agent import Dataset, files
from tests.agents.cache.volume import FORGETS, Mount, Store, Volume
from tests.agents.transfer.faults import leads_out, proxied
from tests.agents.transfer.server import new_bucket

DATA = {"a": b"a" * 10, "d/b": b"b" * 100_000, "d/e/c": b""}


def listed(data: dict[str, bytes]) -> str:
    """The revision of a bucket with these objects."""
    listing = ListingHash()
    for key in sorted(data):
        listing.add(key, len(data[key]), hashlib.md5(data[key], usedforsecurity=False).hexdigest())
    return listing.revision


def revision(node: Mount) -> str | None:
    """What the marker of the last sync names."""
    content = json.loads((node.path / ".stowplan/complete.json").read_text(encoding="utf-8"))
    found: str | None = content.get("revision")
    return found


def test_a_sync_fills_the_dataset(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put(DATA)
    ended = dataset.sync()
    assert ended.code == 0, ended.output
    assert ended.last["filesTotal"] == ended.last["filesDone"] == 3
    assert ended.last["bytesDone"] == pytest.approx(100_010, rel=0.01)
    (node,) = mounts(1)
    assert files(node.path) == DATA
    marker = json.loads((node.path / ".stowplan/runs/sync-abc.json").read_text(encoding="utf-8"))
    assert marker == {"format": 1, "run": "sync-abc", "result": "succeeded", "exitCode": 0}
    complete = json.loads((node.path / ".stowplan/complete.json").read_text(encoding="utf-8"))
    assert complete == {"format": 1, "run": "sync-abc", "files": 3, "revision": listed(DATA)}
    state = node.path / ".stowplan"
    assert sorted(str(each.relative_to(state)) for each in state.rglob("*") if each.is_file()) == [
        "complete.json",
        file_name("/"),
        file_name("/") + SUFFIX,
        "runs/sync-abc.json",
    ]


def test_the_same_run_has_nothing_to_do(dataset: Dataset) -> None:
    dataset.put(DATA)
    assert dataset.sync().code == 0
    dataset.put({"new": b"new"})
    again = dataset.sync()
    assert again.code == 0
    assert "complete before" in again.last["message"]
    other = dataset.sync("sync-def")
    assert other.code == 0
    assert "1 files are new, 3 were there" in other.last["message"]


def test_objects_that_were_replaced_by_others_of_the_same_size_are_fetched(dataset: Dataset, mounts: NewMounts) -> None:
    """Within the same second, or not."""
    (node,) = mounts(1, options=FORGETS)
    dataset.put({"a": b"one", "b": b"b"})
    assert dataset.sync("sync-1").code == 0
    assert revision(node) == listed({"a": b"one", "b": b"b"})
    dataset.put({"a": b"two"})
    done = dataset.sync("sync-2")
    assert "1 files are new, 1 were there" in done.last["message"], done.output
    assert (files(node.path)["a"], revision(node)) == (b"two", listed({"a": b"two", "b": b"b"}))


def test_other_tasks_that_change_the_dataset_take_its_revision_out_of_the_marker(
    dataset: Dataset, mounts: NewMounts
) -> None:
    (node,) = mounts(1, options=FORGETS)
    dataset.put(DATA)
    assert dataset.sync("sync-1").code == 0
    assert revision(node) == listed(DATA)
    assert dataset.sync("job-1", completes=False).code == 0
    assert revision(node) is None
    target = {"kind": "Dataset", "namespace": "ml", "name": "flowers"}
    refresh = dataset.sync("refresh-1", completes=False, target=target, flags={"force-update": True})
    assert refresh.code == 0
    assert revision(node) == listed(DATA)
    complete = json.loads((node.path / ".stowplan/complete.json").read_text(encoding="utf-8"))
    assert complete["run"] == "sync-1"
    assert dataset.rmr(node, "d").code == 0
    assert revision(node) is None
    assert look(node.path, "synced").state == "ready"


def test_a_changed_sync_makes_the_one_before_work_again(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put({"a": b"first"})
    assert dataset.sync("sync-one").code == 0
    dataset.put({"a": b"second one"})
    assert dataset.sync("sync-two").code == 0
    dataset.put({"a": b"first"})
    back = dataset.sync("sync-one")
    assert "1 files are new" in back.last["message"]
    (node,) = mounts(1)
    assert files(node.path) == {"a": b"first"}


def test_sync_rmr_and_the_same_sync_again_restore_the_data(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put(DATA)
    assert dataset.sync().code == 0
    (node,) = mounts(1)
    removed = dataset.rmr(node, "d")
    assert removed.code == 0, removed.output
    assert files(node.path) == {"a": DATA["a"]}
    again = dataset.sync()
    assert "2 files are new" in again.last["message"]
    assert files(node.path) == DATA
    assert dataset.rmr(node, "d").code == 0
    assert files(node.path) == {"a": DATA["a"]}


def test_a_destination_below_the_root_of_a_subdirectory(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put({"a": b"a"})
    ended = dataset.sync(destination="/sub/train/", root="/sub")
    assert ended.code == 0, ended.output
    (node,) = mounts(1, options=("--subdir=/sub",))
    assert files(node.path) == {"train/a": b"a"}
    assert (node.path / ".stowplan/complete.json").is_file()


def test_what_the_source_does_not_have_is_deleted_on_request(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put(DATA)
    (node,) = mounts(1)
    (node.path / "old").write_bytes(b"old")
    assert dataset.sync("sync-one").code == 0
    assert files(node.path) == DATA | {"old": b"old"}
    ended = dataset.sync("sync-two", flags={"delete-dst": True, "check-new": True})
    assert ended.code == 0, ended.output
    assert files(node.path) == DATA
    assert dataset.sync("sync-two", flags={"delete-dst": True}).last["message"].startswith("This run was complete")


def test_an_empty_source_deletes_nothing(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    (node.path / "old").write_bytes(b"old")
    ended = dataset.sync(flags={"delete-dst": True})
    assert (ended.code, ended.last["reason"]) == (5, "EmptySource")
    assert files(node.path) == {"old": b"old"}


def test_state_of_the_source_is_not_copied(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put({".stowplan/complete.json": b"{}", "a": b"a"})
    assert dataset.sync(completes=False).code == 0
    (node,) = mounts(1)
    assert files(node.path) == {"a": b"a"}
    assert not (node.path / ".stowplan/complete.json").exists()


def test_keys_that_lead_out_of_the_dataset_are_an_error(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put({"a": b"a", "z": b"z"})
    with proxied(dataset.storage.endpoint) as proxy:
        proxy.rule = leads_out
        ended = replace(dataset, endpoint=proxy.url).sync(destination="/ml/data/", root="/ml/data")
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeKeys"), ended.output
    (node,) = mounts(1)
    assert files(node.path / "ml/data") == {}
    assert not list(node.path.rglob("escaped"))


def test_keys_that_lead_out_of_the_dataset_after_they_were_judged_are_not_copied(
    dataset: Dataset, mounts: NewMounts
) -> None:
    dataset.put({"a": b"a", "z": b"z"})
    with proxied(dataset.storage.endpoint) as proxy:
        # The first listing is that of the agent.
        proxy.rule = lambda request: leads_out(request) if proxy.count("GET", "list-type", listings=True) > 1 else None
        ended = replace(dataset, endpoint=proxy.url).sync(destination="/ml/data/", root="/ml/data")
    assert ended.code == 0, ended.output
    assert "The source changed during the copy, and listed 2 files before" in ended.last["message"]
    (node,) = mounts(1)
    assert files(node.path / "ml/data") == {"a": b"a"}
    assert not list(node.path.rglob("escaped"))


def test_flags_reach_juicefs(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put({**DATA, "e=1/f": b"f"})
    (node,) = mounts(1, options=FORGETS)
    flags: list[tuple[dict[str, object], list[str]]] = [
        ({"exclude": "d/*"}, ["a", "e=1/f"]),
        ({"exclude": "*", "include": "a"}, ["a"]),
        ({"exclude": "e=[0-9]/"}, ["a", "d/b", "d/e/c"]),
        ({"exclude": "*", "include": "e=1/***"}, ["e=1/f"]),
        ({"limit": 1}, ["a"]),
        ({"threads": 3, "dirs": True}, ["a", "d/b", "d/e/c", "e=1/f"]),
    ]
    for number, (given, left) in enumerate(flags):
        ended = dataset.sync(destination=f"/{number}/", root=f"/{number}", flags=given)
        assert ended.code == 0, ended.output
        assert sorted(files(node.path / str(number))) == left


def test_patterns_that_juicefs_would_ignore_are_refused(dataset: Dataset) -> None:
    dataset.put(DATA)
    for pattern in ("-a=b", "[a", "a\\"):
        ended = dataset.sync(flags={"exclude": pattern, "delete-dst": True})
        assert (ended.code, ended.last["reason"]) == (2, "BadPattern")


def test_a_dry_run_changes_nothing(dataset: Dataset, mounts: NewMounts) -> None:
    dataset.put(DATA)
    assert dataset.sync(flags={"dry": True}).code == 0
    (node,) = mounts(1)
    assert files(node.path) == {}
    assert not list((node.path / ".stowplan").rglob("*.json"))


def test_a_source_that_is_not_there(dataset: Dataset, mounts: NewMounts) -> None:
    ended = dataset.sync(source=dataset.source.replace(dataset.storage.bucket, "no-such-bucket"))
    assert ended.code == 4, ended.output
    (node,) = mounts(1)
    failed = json.loads((node.path / ".stowplan/failed.json").read_text(encoding="utf-8"))
    assert failed["exitCode"] == 4
    ended = dataset.sync("sync-two", source=f"{dataset.source}no/such/folder/")
    assert (ended.code, ended.last["reason"]) == (4, "NotFound")
    assert not (node.path / ".stowplan/complete.json").exists()


def test_keys_that_are_refused(dataset: Dataset) -> None:
    dataset.put(DATA)
    wrong = replace(dataset, environment={"STOWPLAN_SOURCE_SECRET_KEY": "wrong-wrong-wrong"})
    ended = wrong.sync()
    assert ended.code == 3, ended.output


def test_a_store_that_is_away(dataset: Dataset) -> None:
    ended = dataset.sync(source="minio://127.0.0.1:1/bucket/")
    assert ended.code == 10, ended.output


def test_keys_that_only_an_address_can_carry_are_refused(dataset: Dataset) -> None:
    ended = dataset.sync(source="ks3://bucket.endpoint/")
    assert (ended.code, ended.last["reason"]) == (2, "BadSource")


def test_an_option_that_juicefs_does_not_know(dataset: Dataset) -> None:
    dataset.put(DATA)
    assert dataset.sync(flags={"no-such-option": True}).code == 2


def test_a_password_that_is_refused(dataset: Dataset) -> None:
    volume = replace(dataset.volume, password="wrong-wrong")
    assert replace(dataset, volume=volume).sync().code == 3


@pytest.fixture
def unformatted(juicefs: Path, redis: Redis, dataset: Dataset, tmp_path: Path) -> Dataset:
    """A dataset whose volume nobody has made."""
    return replace(dataset, volume=Volume(juicefs, tmp_path, redis.url(9), Store("file", f"{tmp_path}/other/")))


def test_a_volume_is_made_if_the_secret_tells_how(unformatted: Dataset, mounts: NewMounts) -> None:
    unformatted.put(DATA)
    ended = unformatted.sync()
    assert ended.code == 0, ended.output
    (node,) = mounts(1, of=unformatted.volume)
    assert files(node.path) == DATA


def test_a_volume_is_not_made_otherwise(unformatted: Dataset) -> None:
    silent = replace(unformatted, environment={"STOWPLAN_VOLUME_STORAGE": "", "STOWPLAN_VOLUME_BUCKET": ""})
    ended = silent.sync()
    assert (ended.code, ended.last["reason"]) == (4, "NotFormatted")


def test_a_volume_that_is_there_stays_as_it_is(dataset: Dataset) -> None:
    before = json.loads(dataset.volume.run("status", dataset.volume.metadata))["Setting"]
    dataset.put(DATA)
    other = replace(dataset, environment={"STOWPLAN_VOLUME_BUCKET": "/elsewhere/"})
    assert other.sync().code == 0
    assert json.loads(dataset.volume.run("status", dataset.volume.metadata))["Setting"] == before


def test_blocks_in_s3(s3_volume: Volume, s3: str, dataset: Dataset, mounts: NewMounts) -> None:
    there = replace(dataset, volume=s3_volume, storage=new_bucket(s3))
    there.put(DATA)
    assert there.sync().code == 0
    (node,) = mounts(1, of=s3_volume)
    assert files(node.path) == DATA
