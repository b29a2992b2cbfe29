"""The record of the versions that a dataset holds, which others may write to."""

from base64 import b64encode

import pytest

from stowplan.agents.cache.drivers.juicefs.listing import record
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry
from stowplan.agents.cache.drivers.juicefs.listing.record import ENTRY, LARGEST, NewVersionRecord, VersionRecord

OBJECTS = [Entry(f"d/{number}", number, 1_700_000_000, f'"{number:032x}"') for number in range(100)]


def content(*objects: Entry, adopted: bool = False) -> bytes | None:
    made = NewVersionRecord()
    for each in objects:
        made.add(each, adopted=adopted)
    return made.content()


def test_versions_are_told_apart() -> None:
    read = VersionRecord.read(content(*OBJECTS))
    assert [read.state(each) for each in OBJECTS] == ["copied"] * 100
    key, size, time, etag = "d/7", 7, 1_700_000_000, f'"{7:032x}"'
    assert read.state(Entry(key, size, time, '"other"')) == "other"
    for changed in (Entry("d/x", size, time, etag), Entry(key, 8, time, etag), Entry(key, size, time + 1, etag)):
        assert read.state(changed) == "unknown"
    taken = VersionRecord.read(content(*OBJECTS, adopted=True))
    assert {taken.state(each) for each in OBJECTS} == {"adopted"}
    assert taken.state(Entry(key, size, time, '"other"')) == "other"


@pytest.mark.parametrize(
    "found",
    [
        None,
        b"",
        b"stowplan listing 2\nAAAA",
        b"stowplan listing 1\n\xff",
        b"stowplan listing 1\n" + b64encode(b"short"),
    ],
)
def test_what_is_no_record_says_nothing(found: bytes | None) -> None:
    assert VersionRecord.read(found).state(OBJECTS[0]) == "unknown"


def test_entries_in_disorder_end_a_look_up_nevertheless() -> None:
    whole = content(*OBJECTS) or b""
    entries = VersionRecord.read(whole).entries
    pieces = [entries[index : index + ENTRY] for index in range(0, len(entries), ENTRY)]
    assert {VersionRecord(b"".join(reversed(pieces))).state(each) for each in OBJECTS} <= {"unknown", "copied"}


def test_there_is_no_record_of_more_objects_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "MOST", 99)
    assert content(*OBJECTS) is None
    assert content(*OBJECTS[1:]) is not None
    assert content() is None


def test_the_largest_record_can_be_read() -> None:
    assert len(VersionRecord(bytes(ENTRY * record.MOST)).content()) <= LARGEST
