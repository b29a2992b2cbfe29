"""A file that looks as it did is not read again; one that may have changed unseen is."""

import os
import time
from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.repository.file_cache import SeenFiles
from stowplan.compiler.repository.files import Files

HOUR = 3600


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    grow_old(path)
    return path


def grow_old(path: Path) -> None:
    os.utime(path, (time.time() - HOUR,) * 2)


def taken(file: Path, seen: SeenFiles | None) -> tuple[bytes, str]:
    files = Files(file.parent, Report(), {}, seen)
    return files.taken([file.name])[file.name], files.digests[file.name]


def test_an_old_file_is_not_read_again(file: Path) -> None:
    seen = SeenFiles()
    first = taken(file, seen)
    assert first == taken(file, None)
    assert taken(file, seen)[0] is seen.unchanged(f"{file.parent}/", [file.name])[file.name].content
    assert taken(file, seen) == first


def test_a_change_of_the_same_length_is_seen(file: Path) -> None:
    seen = SeenFiles()
    taken(file, seen)
    before = file.stat()
    file.write_text("a: 2\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert taken(file, seen) == taken(file, None)


def test_another_file_in_its_place_is_seen(file: Path) -> None:
    seen = SeenFiles()
    taken(file, seen)
    other = file.with_name("b")
    other.write_text("a: 3\n")
    grow_old(other)
    other.replace(file)
    assert taken(file, seen) == taken(file, None)


def test_a_file_that_was_changed_a_moment_ago_is_read_again(file: Path) -> None:
    seen = SeenFiles()
    taken(file, seen)
    file.write_text("a: 2\n")
    taken(file, seen)
    assert seen.unchanged(f"{file.parent}/", [file.name]) == {}
