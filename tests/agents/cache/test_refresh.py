"""Syncs into a volume that has the files already: what has changed at the source is fetched, and nothing else."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.schema.juicefs.options import WITHOUT_TIMES
from stowplan.schema.remotes.s3_listing import ListingHash
from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.object_server import Bucket, serving_bucket
from tests.agents.cache.task_agent import Dataset, files
from tests.agents.cache.test_sync import revision
from tests.agents.cache.volume import FORGETS

THEN = 1_700_000_000

KEYS = ("edited", "etag", "newer", "older", "same", "size", "q*[a]? #%41", "trailing ", "\u00e4/deep/\U0001f600")


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with serving_bucket() as found:
        yield found


def listed(bucket: Bucket) -> str:
    listing = ListingHash()
    for key in sorted(bucket.objects, key=str.encode):
        listing.add(key, len(bucket.objects[key].data), bucket.objects[key].etag)
    return listing.revision


def content(bucket: Bucket) -> dict[str, bytes]:
    return {key: found.data for key, found in bucket.objects.items()}


def test_what_has_changed_at_the_source_is_fetched(dataset: Dataset, bucket: Bucket, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=FORGETS)
    bucket.put(dict.fromkeys(KEYS, b"first"), THEN)
    done = dataset.sync("sync-1", source=bucket.source)
    assert (done.code, done.last["filesUnchanged"]) == (0, 0), done.output
    assert revision(node) == listed(bucket)
    bucket.put({"etag": b"other", "size": b"another"}, THEN)
    bucket.put(
        dict.fromkeys(("newer", "q*[a]? #%41", "trailing ", "\u00e4/deep/\U0001f600", "new"), b"later"), THEN + 9
    )
    bucket.put({"older": b"older"}, THEN - 9)
    (node.path / "edited").write_bytes(b"EDIT!")
    bucket.fetched.clear()
    done = dataset.sync("sync-2", source=bucket.source)
    assert done.code == 0, done.output
    assert files(node.path) == content(bucket)
    assert done.last["message"] == "The dataset holds every file of the source; 9 files are new, 1 were there"
    assert [done.last[name] for name in ("filesTotal", "filesDone", "filesUnchanged")] == [10, 10, 1]
    assert "same" not in bucket.fetched
    assert revision(node) == listed(bucket)


def test_a_refresh_of_an_unchanged_source_fetches_nothing(dataset: Dataset, bucket: Bucket, mounts: NewMounts) -> None:
    bucket.page = 3
    bucket.put(dict.fromkeys(KEYS, b"first"), THEN)
    assert dataset.sync("sync-1", source=bucket.source).code == 0
    bucket.fetched.clear()
    done = dataset.sync("sync-2", source=bucket.source)
    assert done.last["message"] == "The dataset holds every file of the source; 0 files are new, 9 were there"
    assert bucket.fetched == []
    (node,) = mounts(1)
    assert revision(node) == listed(bucket)


def test_a_volume_that_an_older_version_has_filled_is_kept(dataset: Dataset, bucket: Bucket, mounts: NewMounts) -> None:
    bucket.put(dict.fromkeys(KEYS, b"first"), THEN)
    variables = dataset.variables(None) | {"JFS": dataset.volume.secret["metaurl"], "MINIO_ACCESS_KEY": "k"}
    words = ("sync", "--metrics=127.0.0.1:0", "--check-new", bucket.source, "jfs://JFS/")
    dataset.volume.run(*words, environment={**variables, "MINIO_SECRET_KEY": "secret"})
    bucket.fetched.clear()
    done = dataset.sync("sync-1", source=bucket.source)
    assert "0 files are new, 9 were there" in done.last["message"]
    assert bucket.fetched == []
    (node,) = mounts(1, options=FORGETS)
    # Two versions of the same second would look the same.
    assert revision(node) is None
    bucket.put({"etag": b"other"}, THEN)
    done = dataset.sync("sync-2", source=bucket.source)
    assert "1 files are new, 8 were there" in done.last["message"]
    assert files(node.path)["etag"] == b"other"


def test_a_sync_that_failed_does_not_pass_old_files_off_as_new(
    dataset: Dataset, bucket: Bucket, mounts: NewMounts
) -> None:
    (node,) = mounts(1, options=FORGETS)
    bucket.put(dict.fromkeys(KEYS, b"first"), THEN)
    assert dataset.sync("sync-1", source=bucket.source).code == 0
    bucket.put({"etag": b"other", "same": b"SAME!"}, THEN)
    bucket.put({"newer": b"later"}, THEN + 9)
    bucket.broken = {"etag", "newer"}
    assert dataset.sync("sync-2", source=bucket.source).code == 10
    bucket.broken = set()
    done = dataset.sync("sync-2", source=bucket.source)
    assert done.code == 0, done.output
    assert files(node.path) == content(bucket)
    assert revision(node) == listed(bucket)


def test_options_that_select_keys_hold_for_what_is_fetched_again(
    dataset: Dataset, bucket: Bucket, mounts: NewMounts
) -> None:
    (node,) = mounts(1, options=FORGETS)
    bucket.put({"in/a": b"first", "in/b": b"first", "out/c": b"first"}, THEN)
    assert dataset.sync("sync-1", source=bucket.source).code == 0
    bucket.put({"in/a": b"later", "in/b": b"longer one", "out/c": b"later"}, THEN + 9)
    done = dataset.sync("sync-2", source=bucket.source, flags={"exclude": "out/***", "include": "in/***"})
    assert done.code == 0, done.output
    assert files(node.path) == {"in/a": b"later", "in/b": b"longer one", "out/c": b"first"}
    assert "2 files are new, 0 were there" in done.last["message"]


@pytest.mark.parametrize(
    ("flag", "wanted"), [("ignore-existing", b"first"), ("existing", b"first"), ("update", b"newer")]
)
def test_options_that_say_what_is_copied_again_decide(
    dataset: Dataset, bucket: Bucket, mounts: NewMounts, flag: str, wanted: bytes
) -> None:
    (node,) = mounts(1, options=FORGETS)
    bucket.put({"a": b"first", "b": b"first"}, THEN)
    assert dataset.sync("sync-1", source=bucket.source).code == 0
    bucket.put({"a": b"newer"}, THEN + 9)
    bucket.put({"b": b"older"}, THEN - 9)
    done = dataset.sync("sync-2", source=bucket.source, flags={flag: True})
    assert done.code == 0, done.output
    assert files(node.path) == {"a": wanted, "b": b"first"}
    assert "every file of the source" not in done.last["message"]


def test_one_object_is_compared_too(dataset: Dataset, bucket: Bucket, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=FORGETS)
    where = {"source": f"{bucket.source}sets/one.tar", "destination": "/kept/mine.tar"}
    bucket.put({"sets/one.tar": b"first", "sets/one.tar.sum": b"first", "sets/other": b"other"}, THEN)
    assert dataset.sync("sync-1", **where).code == 0
    assert files(node.path) == {"kept/mine.tar": b"first", "kept/mine.tar.sum": b"first"}
    bucket.put({"sets/one.tar": b"later"}, THEN + 9)
    done = dataset.sync("sync-2", **where)
    assert "1 files are new, 1 were there" in done.last["message"], done.output
    assert files(node.path) == {"kept/mine.tar": b"later", "kept/mine.tar.sum": b"first"}


def test_another_storage_than_s3_is_compared_by_size_and_time(
    dataset: Dataset, mounts: NewMounts, tmp_path: Path
) -> None:
    """As any that our client does not list."""
    assert "file" not in WITHOUT_TIMES
    source = tmp_path / "source"
    (source / "d").mkdir(parents=True)
    for name in ("a", "d/b", "c"):
        (source / name).write_bytes(b"first")
        # Times of this second would be those of the edit below too.
        os.utime(source / name, (THEN - 9, THEN - 9))
    assert dataset.sync("sync-1", source=f"file://{source}/").code == 0
    (source / "a").write_bytes(b"later")
    os.utime(source / "a", (THEN, THEN))
    (node,) = mounts(1, options=FORGETS)
    (node.path / "c").write_bytes(b"EDIT!")
    done = dataset.sync("sync-2", source=f"file://{source}/")
    assert "1 were there" in done.last["message"], done.output
    assert files(node.path) == {"a": b"later", "d/b": b"first", "c": b"first"}
