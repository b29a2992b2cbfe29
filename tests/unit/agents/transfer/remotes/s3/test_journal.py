"""The journal of a download, over kills and crashes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.remotes.s3 import journal as module
from stowplan.agents.transfer.remotes.s3.journal import WINDOW, Done, Ledger
from stowplan.agents.transfer.remotes.s3.protocol.entry import InOrder, S3Object, read, written


def entry(key: str, version: int = 1) -> S3Object:
    return S3Object(key, version, f'"{version}"', version)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(ClaimFolder.at(tmp_path))


def list_(ledger: Ledger, entries: list[tuple[S3Object, bool]]) -> None:
    with ledger.new_listing() as file:
        file.writelines(written(each, wanted=wanted) for each, wanted in entries)


def test_nothing_is_known_at_first(ledger: Ledger) -> None:
    ledger.fold()
    assert list(ledger.known()) == []


def test_run_that_ends_well(ledger: Ledger) -> None:
    list_(ledger, [(entry("a"), True), (entry("b"), False)])
    ledger.finish(Done())
    assert list(ledger.known()) == [entry("a"), entry("b")]


def test_run_that_was_killed(ledger: Ledger, tmp_path: Path) -> None:
    list_(ledger, [(entry("a"), True), (entry("old"), True)])
    ledger.finish(Done())
    list_(ledger, [(entry(key, 2), key != "d") for key in "abcdef"])
    done = Done()
    for index in (0, 1, 4):
        done.add(index)
    assert (done.below, done.beyond) == (2, {4})
    ledger.save(done.snapshot(), synced=False)
    again = Ledger(ClaimFolder.at(tmp_path))
    again.fold()
    # c was not finished; d existed already; entries that the source no longer lists do no harm.
    assert list(again.known()) == [entry("a", 2), entry("b", 2), entry("d", 2), entry("e", 2), entry("old")]
    again.fold()
    assert len(list(again.known())) == 5


def test_crash_of_the_node_loses_only_entries_that_were_not_durable(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_(ledger, [(entry(key), True) for key in "abc"])
    done = Done()
    done.add(0)
    ledger.save(done.snapshot(), synced=True)
    done.add(1)
    ledger.save(done.snapshot(), synced=False)
    monkeypatch.setattr(module, "boot", lambda: "another boot")
    Ledger(ClaimFolder.at(tmp_path)).fold()
    assert [each.key for each in Ledger(ClaimFolder.at(tmp_path)).known()] == ["a"]


def test_entries_that_changed_or_failed(ledger: Ledger) -> None:
    list_(ledger, [(entry(key), True) for key in "abc"])
    done = Done()
    done.add(0)
    done.replace(1, entry("b", 7))
    done.replace(2, None)
    ledger.finish(done)
    assert list(ledger.known()) == [entry("a"), entry("b", 7)]


def test_interrupted_listing_is_ignored(ledger: Ledger) -> None:
    def broken() -> Iterator[str]:
        yield written(entry("a"), wanted=True)
        raise ConnectionError

    with pytest.raises(ConnectionError), ledger.new_listing() as file:
        file.writelines(broken())
    assert list(ledger.listing()) == []


def test_files_that_are_damaged(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "known.jsonl").write_text(written(entry("a"), wanted=False) + '["b", 1')
    (tmp_path / "progress.json").write_text("{")
    ledger.fold()
    assert list(ledger.known()) == [entry("a")]


def test_waits_for_the_oldest_unfinished_entry() -> None:
    done, stop = Done(), Stop()
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
    entries = InOrder(iter([entry("a"), entry("c"), entry("d")]))
    assert [each and each.key for each in map(entries.at, ["a", "b", "c", "e"])] == ["a", None, "c", None]
