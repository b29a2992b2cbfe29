"""Writing of a whole file in one step, beside the files of others."""

import os
import threading
from pathlib import Path
from stat import S_IMODE

import pytest

from stowplan.compiler.repository import own_files


def test_several_commands_may_write_the_same_file_at_once(tmp_path: Path) -> None:
    file, failed = tmp_path / "a.yaml", list[BaseException]()
    contents = [str(number).encode() * 100_000 for number in range(4)]
    start = threading.Barrier(len(contents))

    def write(content: bytes) -> None:
        start.wait()
        try:
            for _ in range(50):
                own_files.replace(file, content)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(each,)) for each in contents]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    assert file.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [file]


def test_no_other_file_of_the_folder_is_removed(tmp_path: Path) -> None:
    others = [tmp_path / name for name in (".a.yaml.stowplan", ".a.yaml.tmp", "a.yaml~")]
    for each in others:
        each.write_text("of a user")
    own_files.replace(tmp_path / "a.yaml", b"new")
    assert [each.read_text() for each in others] == ["of a user"] * len(others)


@pytest.mark.parametrize(("mode", "expected"), [(None, None), (0o640, 0o640)])
def test_mode(tmp_path: Path, mode: int | None, expected: int | None) -> None:
    (tmp_path / "plain").touch()
    own_files.replace(tmp_path / "a", b"", mode)
    assert S_IMODE((tmp_path / "a").stat().st_mode) == (expected or S_IMODE((tmp_path / "plain").stat().st_mode))


def test_the_longest_name_is_written(tmp_path: Path) -> None:
    own_files.replace(tmp_path / ("n" * 255), b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["n" * 255]


def test_what_a_killed_command_left_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    left, others = (
        f".stowplan-{'0123456789abcdef' * 2}",
        {".stowplan-tmp-1", ".stowplan-notes", ".stowplan.lock", "a.yaml"},
    )
    for name in (left, *others):
        (tmp_path / name).touch()
    own_files.clear(tmp_path)
    own_files.clear(tmp_path / "missing")
    assert {each.name for each in tmp_path.iterdir()} == others


def test_a_command_that_writes_while_another_one_clears_up_writes_its_file(tmp_path: Path) -> None:
    done = threading.Event()

    def clear() -> None:
        while not done.is_set():
            own_files.clear(tmp_path)

    thread = threading.Thread(target=clear)
    thread.start()
    try:
        for number in range(300):
            own_files.replace(tmp_path / "a.yaml", str(number).encode() * 10_000)
    finally:
        done.set()
        thread.join()
    assert (tmp_path / "a.yaml").read_bytes().startswith(b"299")
    assert [each.name for each in tmp_path.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize("link", [False, True])
def test_a_pipe_stays(tmp_path: Path, *, link: bool) -> None:
    """Such as /dev/stdout, which root could replace for all programs."""
    os.mkfifo(tmp_path / "pipe")
    file = tmp_path / ("link" if link else "pipe")
    if link:
        file.symlink_to("pipe")
    with pytest.raises(OSError, match=r"only files are replaced: '.*/(pipe|link)'"):
        own_files.replace(file, b"new")
    assert file.is_fifo()


def test_no_temporary_file_is_left_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match=f"directory: '{tmp_path}/a'"):
        own_files.replace(tmp_path / "a", b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
