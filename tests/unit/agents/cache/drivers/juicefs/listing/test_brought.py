"""The record of the files that syncs have brought to a destination."""

import json
from array import array
from base64 import b64encode

import pytest

from stowplan.agents.cache.drivers.juicefs.listing.brought import ENTRY, LARGEST, MOST, BroughtHashes, number_of
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry
from stowplan.agents.cache.drivers.juicefs.listing.extra import Removable, UnlistedFiles

OWNER, OTHER = "Dataset/ml/corpus", "SampleJob/ml/more"


def numbers(*keys: str) -> "array[int]":
    return array("Q", [number_of(key.encode()) for key in keys])


def read(content: bytes | None = None, source: str = "v3", owner: str = OWNER) -> BroughtHashes:
    return BroughtHashes.read(content, owner, source)


def owned(record: BroughtHashes, *keys: str) -> str:
    """Which keys the record says that its owner has brought."""
    return " ".join(key for key in keys if record.by(number_of(key.encode())) == record.owner)


def test_a_record_knows_what_was_brought_and_whether_the_source_moves() -> None:
    record = read(read().begun(numbers("a", "b")).content())
    assert (owned(record, "a", "b", "c"), record.moved) == ("a b", False)
    record = read(record.content(), source="v4")
    assert (owned(record, "a", "b", "c"), record.moved) == ("a b", True)
    # An interrupted sync counts too: both sources remain, until one has ended.
    record = read(record.begun(numbers("b", "c")).content(), source="v3")
    assert (owned(record, "a", "b", "c"), record.moved) == ("a b c", True)
    record = read(record.finished(numbers("a"), numbers("c")).content())
    assert (owned(record, "a", "b", "c"), record.moved) == ("a c", False)


def test_who_brings_a_file_last_owns_it() -> None:
    first = read().begun(numbers("a", "b"))
    record = read(first.content(), owner=OTHER)
    assert (owned(record, "a", "b"), record.moved) == ("", False)
    record = read(record.finished(numbers("b"), numbers("a")).content(), source="v4")
    assert (owned(record, "a", "b"), record.moved) == ("a", True)


def test_the_same_syncs_write_the_same_record() -> None:
    record = read().begun(numbers("b", "a"))
    again = record.finished(numbers("a", "b"), numbers())
    assert again == record
    assert again.content() == read(record.content()).content()


HEAD = b'{"format": 1, "sources": {"00000000": ["x"]}}\n'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        HEAD + b"?",
        HEAD + b64encode(bytes(ENTRY - 1)),
        HEAD + b64encode(bytes(ENTRY) * 2),
        HEAD.replace(b"1", b"2") + b64encode(bytes(ENTRY)),
        HEAD.replace(b'["x"]', b"[1]") + b64encode(bytes(ENTRY)),
        HEAD.replace(b'["x"]', b'"x"') + b64encode(bytes(ENTRY)),
        json.dumps([1]).encode() + b"\n",
    ],
)
def test_an_invalid_record_is_none(content: bytes) -> None:
    assert read(content) == read()


def test_the_largest_record_can_be_read() -> None:
    assert len(HEAD) + len(b64encode(bytes(MOST * ENTRY))) <= LARGEST


def extra(most: int = 10) -> UnlistedFiles:
    return UnlistedFiles(read(read().begun(numbers("a", "b/c", "d")).content(), source="v4"), most)


def test_what_is_deleted_and_what_is_unknown() -> None:
    found = extra()
    found.listed(Entry("a", 1, 1))
    for key in ("b/c", "b/own", "d"):
        found.meet(Entry(key, 1, 1))
    assert ([each.key for each in found.doomed()], found.count, found.unknown) == (["b/c", "d"], 2, 1)
    found.spare()
    assert (found.count, found.unknown) == (0, 3)


@pytest.mark.parametrize(
    ("listed", "met", "blocked"),
    [("d/e", "d", True), ("b", "b/c", True), ("d-", "d", False), ("b-", "b/c", False), ("b/d", "b/c", False)],
)
def test_a_file_in_the_way_of_a_folder(listed: str, met: str, *, blocked: bool) -> None:
    found = extra()
    for key in sorted((listed, met)):
        (found.meet if key == met else found.listed)(Entry(key, 1, 1))
    assert found.is_blocked == blocked


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ("a d/ d/x d/y", "a d/x"),
        ("d/ d/x", "d/x d/"),
        ("d/ d/e/ d/x", "d/x"),
        ("d/ d/e/ d/e/z d/x", "d/e/z d/e/ d/x d/"),
        ("d/ d-e", ""),
        ("d", ""),
    ],
)
def test_emptied_folders_go_and_others_stay(there: str, expected: str) -> None:
    doomed = [Entry(key, 1, 1) for key in ("a", "d/e/z", "d/x")]
    entries = [Entry(key, 0 if key.endswith("/") else 1, 1) for key in there.split()]
    assert " ".join(Removable(doomed, entries).chosen()) == expected


def test_a_file_that_others_have_replaced_stays() -> None:
    assert list(Removable([Entry("a", 1, 1), Entry("b", 1, 1)], [Entry("a", 1, 2), Entry("b", 2, 1)]).chosen()) == []
