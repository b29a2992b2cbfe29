"""The lines by which Git LFS says how far it is."""

from pathlib import Path

import pytest

from stowplan.agents.attempt.progress import Progress
from stowplan.agents.transfer.git import lfs_progress
from stowplan.agents.transfer.git.lfs_progress import LfsProgress, followed


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def test_counts_what_each_line_says_anew(tmp_path: Path) -> None:
    reader = LfsProgress(tmp_path / "lines", Progress())
    reader.look()
    append(reader.path, "download 1/2 100/300 a b\ncheckout 1/2 5/5 c\ndownload 2/2 50/60 c\ndownload 1/2 2")
    reader.look()
    assert reader.progress.bytes_done == 150
    append(reader.path, "00/300 a b\nnonsense\ndownload 1/2 0/300 a b\n")
    reader.look()
    assert reader.progress.bytes_done == 50


def test_lines_that_were_counted_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lfs_progress, "LONGEST", 100)
    reader = LfsProgress(tmp_path / "lines", Progress())
    for number in range(1, 51):
        append(reader.path, f"download 1/1 {number}/50 name\n")
        reader.look()
        assert (reader.progress.bytes_done, reader.path.stat().st_size <= 130) == (number, True)


def test_file_is_gone_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory where there is such a place, and private."""
    for memory, inside in ((tmp_path / "memory", "memory"), (tmp_path / "none", "folder")):
        (tmp_path / inside).mkdir()
        monkeypatch.setattr(lfs_progress, "MEMORY", memory)
        with followed(tmp_path / "folder", Progress()) as reader:
            assert reader.path.parent.parent == tmp_path / inside
            assert reader.path.parent.stat().st_mode & 0o777 == 0o700
        assert list((tmp_path / inside).iterdir()) == []
