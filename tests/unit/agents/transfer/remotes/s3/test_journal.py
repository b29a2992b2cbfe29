"""The journal of a download, over kills and crashes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.remotes.s3 import journal as module
from stowplan.agents.transfer.remotes.s3.journal import WINDOW, FinishedEntries, Journal
from stowplan.agents.transfer.remotes.s3.protocol.entry import KeyLookup, S3Object, read, written


def entry(key: str, version: int = 1) -> S3Object:
    return S3Object(key, version, f'"{version}"', version)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(ClaimFolder.at(tmp_path))


def list_(journal: Journal, entries: list[tuple[S3Object, bool]]) -> None:
    with journal.new_listing() as file:
        file.writelines(written(each, wanted=wanted) for each, wanted in entries)


def test_nothing_is_known_at_first(journal: Journal) -> None:
    journal.fold()
    assert list(journal.known()) == []


def test_run_that_ends_well(journal: Journal) -> None:
    list_(journal, [(entry("a"), True), (entry("b"), False)])
    journal.finish(FinishedEntries())
    assert list(journal.known()) == [entry("a"), entry("b")]


def test_run_that_was_killed(journal: Journal, tmp_path: Path) -> None:
    list_(journal, [(entry("a"), True), (entry("old"), True)])
    journal.finish(FinishedEntries())
    list_(journal, [(entry(key, 2), key != "d") for key in "abcdef"])
    done = FinishedEntries()
    for index in (0, 1, 4):
        done.add(index)
    assert (done.below, done.beyond) == (2, {4})
    journal.save(done.snapshot(), synced=False)
    again = Journal(ClaimFolder.at(tmp_path))
    again.fold()
    # c was not finished; d existed already; entries that the source no longer lists do no harm.
    assert list(again.known()) == [entry("a", 2), entry("b", 2), entry("d", 2), entry("e", 2), entry("old")]
    again.fold()
    assert len(list(again.known())) == 5


def test_crash_of_the_node_loses_only_entries_that_were_not_durable(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_(journal, [(entry(key), True) for key in "abc"])
    done = FinishedEntries()
    done.add(0)
    journal.save(done.snapshot(), synced=True)
    done.add(1)
    journal.save(done.snapshot(), synced=False)
    monkeypatch.setattr(module, "boot", lambda: "another boot")
    Journal(ClaimFolder.at(tmp_path)).fold()
    assert [each.key for each in Journal(ClaimFolder.at(tmp_path)).known()] == ["a"]


def test_entries_that_changed_or_failed(journal: Journal) -> None:
    list_(journal, [(entry(key), True) for key in "abc"])
    done = FinishedEntries()
    done.add(0)
    done.replace(1, entry("b", 7))
    done.replace(2, None)
    journal.finish(done)
    assert list(journal.known()) == [entry("a"), entry("b", 7)]


def test_interrupted_listing_is_ignored(journal: Journal) -> None:
    def broken() -> Iterator[str]:
        yield written(entry("a"), wanted=True)
        raise ConnectionError

    with pytest.raises(ConnectionError), journal.new_listing() as file:
        file.writelines(broken())
    assert list(journal.listing()) == []


def test_files_that_are_damaged(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "known.jsonl").write_text(written(entry("a"), wanted=False) + '["b", 1')
    (tmp_path / "progress.json").write_text("{")
    journal.fold()
    assert list(journal.known()) == [entry("a")]


def test_waits_for_the_oldest_unfinished_entry() -> None:
    done, stop = FinishedEntries(), Stop()
    done.wait_for_window(WINDOW, stop)
    stop.set("signal")
    with pytest.raises(StoppedError):
        done.wait_for_window(WINDOW + 1, stop)
    done.add(0)
    done.wait_for_window(WINDOW + 1, stop)


def test_lines_and_keys_with_anything_in_them() -> None:
    odd = S3Object('ü"\u2028 x', 1, '"e"', 2)
    line = written(odd, wanted=True)
    assert line.count("\n") == 1
    assert read(line) == (odd, True)
    json.loads(line)


def test_lookup_in_order() -> None:
    entries = KeyLookup(iter([entry("a"), entry("c"), entry("d")]))
    assert [each and each.key for each in map(entries.at, ["a", "b", "c", "e"])] == ["a", None, "c", None]
