"""Parts of a large object over kills and crashes."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.transfer import parts as module
from stowplan.agents.transfer.parts import PartFile
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object

ENTRY = S3Object("k", 25, '"e"', 1_700_000_000)


Opener = Callable[[S3Object, int], PartFile[S3Object]]


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_PART", 1)


@pytest.fixture
def parts_of(tmp_path: Path) -> Iterator[Opener]:
    """Opens part files, as attempts that were all killed did, and closes them in the end."""
    opened: list[PartFile[S3Object]] = []
    folder = ClaimFolder.at(tmp_path)

    def open_(entry: S3Object, part_size: int) -> PartFile[S3Object]:
        opened.append(PartFile(folder, entry, part_size))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


def fetch(parts: PartFile[S3Object], numbers: list[int]) -> None:
    for each in [each for each in parts.missing if each.number in numbers]:
        parts.draft.write(bytes([each.number]) * (each.end - each.start), each.start)
        parts.done(each)


def numbers(parts: PartFile[S3Object]) -> list[int]:
    return [each.number for each in parts.missing]


def test_parts_cover_the_object(parts_of: Opener, tmp_path: Path) -> None:
    parts = parts_of(ENTRY, 10)
    assert [(each.start, each.end) for each in parts.missing] == [(0, 10), (10, 20), (20, 25)]
    fetch(parts, [2, 0, 1])
    assert (numbers(parts), parts.present) == ([], 25)
    descriptor = parts.finish(ENTRY.modified)
    assert os.pread(descriptor, 100, 0) == b"\0" * 10 + b"\1" * 10 + b"\2" * 5
    assert os.fstat(descriptor).st_mtime == ENTRY.modified


def test_killed_and_again(parts_of: Opener, tmp_path: Path) -> None:
    fetch(parts_of(ENTRY, 10), [1])
    parts = parts_of(ENTRY, 10)
    assert (numbers(parts), parts.present, parts.begun) == ([0, 2], 10, 0)
    fetch(parts, [0])
    assert parts.begun == 20
    fetch(parts, [2])
    assert parts.begun == 25
    assert numbers(parts_of(ENTRY, 10)) == []


def test_part_size_of_the_first_attempt_is_kept(parts_of: Opener, tmp_path: Path) -> None:
    fetch(parts_of(ENTRY, 10), [0])
    assert [(each.start, each.end) for each in parts_of(ENTRY, 7).missing] == [(10, 20), (20, 25)]


def test_another_version_restarts_the_download(parts_of: Opener, tmp_path: Path) -> None:
    fetch(parts_of(ENTRY, 10), [0])
    assert numbers(parts_of(S3Object("k", 25, '"f"', ENTRY.modified), 10)) == [0, 1, 2]


def test_truncated_line_is_ignored(parts_of: Opener, tmp_path: Path) -> None:
    fetch(parts_of(ENTRY, 1), [1, 12])
    (journal,) = tmp_path.glob("*.parts")
    journal.write_text(journal.read_text()[:-2])
    assert 12 in numbers(parts_of(ENTRY, 1))


@pytest.mark.parametrize("text", ["", "{}\n", "[]\nw 1\n", "\xff"])
def test_damaged_journal_begins_anew(parts_of: Opener, tmp_path: Path, text: str) -> None:
    fetch(parts_of(ENTRY, 10), [0])
    (journal,) = tmp_path.glob("*.parts")
    journal.write_text(text, encoding="latin-1")
    assert numbers(parts_of(ENTRY, 10)) == [0, 1, 2]


def test_journal_without_its_file_begins_anew(parts_of: Opener, tmp_path: Path) -> None:
    parts = parts_of(ENTRY, 10)
    fetch(parts, [0])
    (tmp_path / parts.name).unlink()
    assert numbers(parts_of(ENTRY, 10)) == [0, 1, 2]


def test_after_a_crash_of_the_node_only_durable_parts_count(
    parts_of: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SYNC_SECONDS", 0)
    parts = parts_of(ENTRY, 10)
    fetch(parts, [0])
    monkeypatch.setattr(module, "SYNC_SECONDS", 1e9)
    fetch(parts, [1])
    monkeypatch.setattr(module, "boot", lambda: "another boot")
    assert numbers(parts_of(ENTRY, 10)) == [1, 2]
    monkeypatch.setattr(module, "boot", lambda: "a third one")
    assert numbers(parts_of(ENTRY, 10)) == [0, 1, 2], "nothing was made durable since"
