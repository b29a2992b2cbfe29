"""Keys of the source that cannot be files, or that would be one file: none of them is passed over in silence."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.object_server import Bucket, serving_bucket
from tests.agents.cache.task_agent import Dataset, files
from tests.agents.cache.volume import FORGETS

THEN = 1_700_000_000


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with serving_bucket() as found:
        yield found


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (["a//b", "a/b"], "'a//b' is absolute or has an empty segment"),
        (["./d"], "'./d' has a segment . or .."),
        (["a", "../x"], "'../x' has a segment . or .."),
        (["a", "a/b"], "'a/b' needs a directory where 'a' is an object"),
        (["x/", "y"], "'x/' names a folder, and holds 4 bytes"),
        (["a\\b"], "'a\\\\b' holds a backslash"),
        (["n" * 256], "n' is too long for a path"),
    ],
)
def test_keys_that_cannot_be_files_are_an_error(
    dataset: Dataset, bucket: Bucket, mounts: NewMounts, keys: list[str], problem: str
) -> None:
    bucket.put({**dict.fromkeys(keys, b"data"), "good": b"good"}, THEN)
    ended = dataset.sync(source=bucket.source)
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeKeys"), ended.output
    assert problem in ended.last["message"]
    assert bucket.fetched == []
    (node,) = mounts(1)
    assert files(node.path) == {}


def test_patterns_leave_such_keys_out(dataset: Dataset, bucket: Bucket, mounts: NewMounts) -> None:
    bucket.put({"a//b": b"1", "x/": b"2", "a/b": b"3", "folder/": b"", "deep/er/c": b"4", ".stowplan/x": b"5"}, THEN)
    ended = dataset.sync("sync-1", source=bucket.source, exclude=["*//*", "x/"], flags={"check-new": True})
    assert ended.code == 0, ended.output
    assert (ended.last["filesTotal"], ended.last["filesLeftOut"]) == (2, 3)
    assert ended.last["message"] == (
        "The dataset holds 2 files of the source; left out: what the patterns exclude (2), names that the destination"
        " refuses (1); 2 files are new, 0 were there"
    )
    (node,) = mounts(1)
    assert files(node.path) == {"a/b": b"3", "deep/er/c": b"4"}
    bucket.put({"deep/er/c": b"5", "a/b": b"33"}, THEN + 9)
    ended = dataset.sync("sync-2", source=bucket.source, include=["deep/*"], flags={"check-new": True})
    assert "1 files are new, 0 were there" in ended.last["message"], ended.output
    assert ended.last["filesLeftOut"] == 4
    assert bucket.fetched.count("a/b") == 1


def test_an_option_of_juicefs_leaves_such_keys_out(dataset: Dataset, bucket: Bucket, mounts: NewMounts) -> None:
    bucket.put({"a//b": b"1", "a/b": b"2", "c": b"3"}, THEN)
    ended = dataset.sync(source=bucket.source, flags={"exclude": "a//b"})
    assert ended.code == 0, ended.output
    assert (ended.last["filesTotal"], ended.last["filesLeftOut"]) == (2, 1)
    (node,) = mounts(1)
    assert files(node.path) == {"a/b": b"2", "c": b"3"}


def test_names_that_juicefs_keeps_for_itself_are_told(dataset: Dataset, bucket: Bucket, mounts: NewMounts) -> None:
    bucket.put({".stats": b"1", ".trash/a": b"2", "b/.stats": b"3"}, THEN)
    ended = dataset.sync(source=bucket.source)
    assert ended.code == 0, ended.output
    assert (ended.last["filesTotal"], ended.last["filesLeftOut"]) == (1, 2)
    assert "1 files are new, 0 were there" in ended.last["message"]
    (node,) = mounts(1)
    assert (node.path / "b/.stats").read_bytes() == b"3"


@pytest.mark.parametrize("name", ["line\nbreak", "back\\slash", b"no-utf8-\xff".decode(errors="surrogateescape")])
def test_keys_of_another_storage_than_s3(dataset: Dataset, mounts: NewMounts, tmp_path: Path, name: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for each in ("a", name, "z"):
        (source / each).write_bytes(b"data")
    ended = dataset.sync(source=f"file://{source}/")
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeKeys"), ended.output
    (node,) = mounts(1)
    assert files(node.path) == {}


def test_a_store_that_our_client_cannot_list_is_listed_by_juicefs(
    dataset: Dataset, bucket: Bucket, mounts: NewMounts
) -> None:
    """Such as one whose listings have no ETags."""
    bucket.put({"a//b": b"1", "a/b": b"2"}, THEN)
    bucket.etags = False
    ended = dataset.sync("sync-1", source=bucket.source)
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeKeys"), ended.output


def test_a_folder_in_the_place_of_a_file(dataset: Dataset, bucket: Bucket, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=FORGETS)
    (node.path / "d/1").mkdir(parents=True)
    bucket.put({"d": b"file", "e": b"other"}, THEN)
    ended = dataset.sync(source=bucket.source)
    assert (ended.code, ended.last["reason"]) == (5, "IsADirectory"), ended.output
    assert "Failed to copy data of d" in ended.last["message"]
    (node.path / "d/1").rmdir()
    (node.path / "d").rmdir()
    assert dataset.sync(source=bucket.source).code == 0
    assert files(node.path) == {"d": b"file", "e": b"other"}
