"""One folder of a claim, in which others put anything at any moment."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.attempt.claim.folder import LONGEST_LINE, ClaimFolder
from stowplan.agents.attempt.failure import AttemptError


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as unix:
        # A path of a socket has 108 bytes at most.
        here = os.open(path.parent, os.O_RDONLY)
        unix.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


KINDS: dict[str, Callable[[Path], None]] = {
    "link": lambda path: path.symlink_to("/etc/hostname"),
    "circle": lambda path: path.symlink_to(path),
    "pipe": os.mkfifo,
    "socket": bound,
    "folder": Path.mkdir,
}


@pytest.fixture
def folder(tmp_path: Path) -> ClaimFolder:
    return ClaimFolder.at(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_are_read(folder: ClaimFolder, tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "x")
    assert folder.read("x", 10) is None
    assert list(folder.lines("x")) == []
    assert folder.existing("x") is None
    for open_ in (folder.reader, folder.shared):
        with pytest.raises(OSError, match="x"):
            open_("x")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "folder"])
def test_a_new_file_replaces_what_is_there(folder: ClaimFolder, tmp_path: Path, kind: str) -> None:
    for name in ("x", "y", "y.tmp"):
        KINDS[kind](tmp_path / name)
    os.close(folder.new("x"))
    folder.write("y", "text")
    assert [(tmp_path / name).read_text() for name in ("x", "y")] == ["", "text"]
    assert not any((tmp_path / name).is_symlink() for name in ("x", "y"))


def test_a_file_with_another_name_is_not_changed(folder: ClaimFolder, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    for name in ("w", "x", "y", "z"):
        (tmp_path / name).hardlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="w is no regular file with one name: remove it"):
        folder.shared("w")
    assert folder.existing("x") is None
    os.close(folder.new("y"))
    folder.write("z", "text")
    assert (tmp_path / "other").read_text() == "other"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "folder"])
def test_nothing_but_folders_is_entered(folder: ClaimFolder, tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "x")
    for create in (True, False):
        with pytest.raises(NotADirectoryError, match="x is a link or a file, and must be a folder"):
            folder.folder("x", create=create)
        with pytest.raises(NotADirectoryError):
            ClaimFolder.at(tmp_path, "x/y", create=create)


def test_a_folder_stays_the_same_when_its_path_leads_elsewhere(folder: ClaimFolder, tmp_path: Path) -> None:
    inner = folder.folder("inner", create=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "inner").rename(tmp_path / "moved")
    (tmp_path / "inner").symlink_to(tmp_path / "elsewhere")
    inner.write("x", "text")
    assert (tmp_path / "moved/x").read_text() == "text"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../x", "/etc"])
def test_names_that_lead_elsewhere(folder: ClaimFolder, name: str) -> None:
    for call in (folder.stat, folder.new, folder.remove_file, folder.reader, folder.folder, folder.remove_folder):
        with pytest.raises(AttemptError, match="is no name of a file"):
            call(name)
    for names in ((name, "x"), ("x", name)):
        with pytest.raises(AttemptError, match="is no name of a file"):
            folder.move(names[0], folder, names[1])


def test_lines_without_an_end(folder: ClaimFolder, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\n\xff\nb")
    assert list(folder.lines("x")) == [b"a", b"\xff"]
    (tmp_path / "x").write_bytes(b"a\n" + b"x" * LONGEST_LINE + b"\n")
    assert list(folder.lines("x")) == [b"a"]
    with (tmp_path / "x").open("wb") as file:
        file.truncate(1 << 40)
    assert list(folder.lines("x")) == []
    assert folder.read("x", 10) is None


def test_an_error_leaves_the_file_as_it_was(folder: ClaimFolder, tmp_path: Path) -> None:
    folder.write("x", "before")

    def broken() -> Iterator[str]:
        yield "half"
        raise ConnectionError

    with pytest.raises(ConnectionError), folder.replacing("x") as file:
        file.writelines(broken())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "before"}


def test_name_of_a_file_elsewhere_that_goes_when_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others can remove the name at that very moment. The file then has one name again, which is elsewhere."""
    victim, place = tmp_path / "victim", tmp_path / "claim/data"
    place.parent.mkdir()
    victim.write_bytes(b"of another team")
    with ClaimFolder.at(place.parent) as folder:
        place.hardlink_to(victim)
        opened = os.open

        def attacked(*words: Any, **options: Any) -> int:
            descriptor = opened(*words, **options)
            if words[0] == "data":
                place.unlink()
            return descriptor

        monkeypatch.setattr(os, "open", attacked)
        assert folder.existing("data") is None
