"""Commits whose attributes convert files, so that a checked-out file may not become the committed one again.

Git takes such a file for edited whenever it reads it again: in the second after a checkout, after a restore of a claim,
after `touch`. Seen at git-lfs #1939.
"""

import os

from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author, pointer

LFS = b"*.bin filter=lfs diff=lfs merge=lfs -text\n"


def raw(writer: Author, files: dict[str, bytes]) -> str:
    """Commits files as they are, whatever their attributes say, as web editors and other clients do."""
    for path, data in files.items():
        name = writer.git("hash-object", "-w", "--no-filters", "--stdin", feed=data)
        writer.git("update-index", "--add", "--cacheinfo", f"100644,{name},{path}")
    writer.git("commit", "-q", "-m", "Raw")
    writer.git("push", "-q", "origin", "HEAD")
    return writer.head


def read_again(cube: Cube) -> None:
    """What a restore of a claim does: Git must read each file again."""
    for path in cube.clone.rglob("*"):
        if ".git" not in path.parts and path.is_file():
            os.utime(path, (1_700_000_000, 1_700_000_000))


FOLDERS: dict[str, tuple[bytes, bytes]] = {
    "plain file that belongs to Git LFS": (LFS, b"plain " * 500),
    "empty file that belongs to Git LFS": (LFS, b""),
    "pointer with CRLF": (LFS, pointer(b"one").replace(b"\n", b"\r\n")),
    "pointer with one more line": (LFS, pointer(b"one") + b"note\n"),
    "pointer without its last line end": (LFS, pointer(b"one").strip()),
    "CRLF under text=auto": (b"* text=auto\n", b"a\r\nb\r\n"),
    "CRLF under text": (b"* text\n", b"a\r\nb\r\n"),
    "CRLF under eol=crlf": (b"* text eol=crlf\n", b"a\r\nb\r\n"),
    "both line ends under eol=crlf": (b"* text eol=crlf\n", b"a\r\nb\n"),
    "CRLF under eol=lf": (b"* text eol=lf\n", b"a\r\nb\n"),
    "encoding that the file has not": (b"*.bin text working-tree-encoding=UTF-16\n", "ä\n".encode("utf-16")),
    "identifier that is filled in": (b"*.bin ident\n", b"$Id: of old $\n"),
}
"""Attributes of a folder, and the content that its file `x.bin` has in the commit."""


def test_what_was_checked_out_is_no_edit(cube: Cube, writer: Author) -> None:
    writer.lfs({"x.bin": b"one"})
    of_lfs = {f"{name}/.gitattributes": rules for name, (rules, _) in FOLDERS.items()}
    raw(writer, {**of_lfs, **{f"{name}/x.bin": content for name, (_, content) in FOLDERS.items()}})
    assert cube.download().code == 0
    before = tree(cube.clone)
    assert before["pointer with CRLF/x.bin"] == b"one"
    read_again(cube)
    for _ in range(2):
        ended = cube.download()
        assert (ended.code, tree(cube.clone)) == (0, before), ended.output
        assert "as it was before" in ended.last["message"]
    for name in FOLDERS:
        (cube.clone / name / "x.bin").write_bytes(before[f"{name}/x.bin"] + b"mine")
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "Dirty"), ended.output
    assert ended.last["message"].startswith(f"{len(FOLDERS)} files of ")
    for name in FOLDERS:
        (cube.clone / name / "x.bin").write_bytes(before[f"{name}/x.bin"])
    raw(writer, {f"{name}/x.bin": b"new\n" for name in FOLDERS})
    fresh = Cube(cube.folder / "fresh", cube.url)
    fresh.folder.mkdir()
    for each in (cube, fresh):
        ended = each.download()
        assert ended.code == 0, ended.output
    assert tree(cube.clone) == tree(fresh.clone)


def test_file_in_the_way_of_the_next_commit_leaves_converted_files(cube: Cube, writer: Author) -> None:
    raw(writer, {".gitattributes": LFS, "x.bin": b"plain"})
    assert cube.download().code == 0
    before = tree(cube.clone)
    (cube.clone / "own").write_bytes(b"mine")
    read_again(cube)
    raw(writer, {"x.bin": b"other", "own": b"theirs"})
    for _ in range(2):
        ended = cube.download()
        assert (ended.code, ended.last["reason"]) == (5, "Dirty"), ended.output
        assert tree(cube.clone) == {**before, "own": b"mine"}
    (cube.clone / "own").unlink()
    assert cube.download().code == 0
    assert tree(cube.clone) == {**before, "x.bin": b"other", "own": b"theirs"}


def test_lfs_that_is_switched_off_is_no_edit(cube: Cube, writer: Author) -> None:
    raw(writer, {".gitattributes": LFS, **writer.lfs({"x.bin": b"one" * 1000, "y.bin": b"y"})})
    assert cube.download().code == 0
    read_again(cube)
    ended = cube.download(lfs=False)
    assert ended.code == 0, ended.output
    raw(writer, writer.lfs({"x.bin": b"two"}))
    ended = cube.download(lfs=False)
    assert (ended.code, tree(cube.clone)["x.bin"]) == (0, pointer(b"two")), ended.output
    (cube.clone / "y.bin").write_bytes(b"z")
    assert cube.download(lfs=False).last["reason"] == "Dirty"


def test_attributes_that_change_make_the_files_of_a_new_clone(cube: Cube, writer: Author) -> None:
    changes = [(b"* text eol=crlf\n", b"\n"), (b"\n", b"* text eol=crlf\n"), (b"* ident\n", b"\n"), (LFS, b"\n")]
    folders = list(map(str, range(len(changes))))
    content = {"x.txt": b"a\nb $Id$\n", **writer.lfs({"y.bin": b"content"})}
    raw(writer, {f"{folder}/{path}": data for folder in folders for path, data in content.items()} | {"kept": b"kept"})
    raw(writer, {f"{folder}/.gitattributes": old for folder, (old, _) in zip(folders, changes, strict=True)})
    assert cube.download().code == 0
    kept = (cube.clone / "kept").stat().st_ino
    raw(writer, {f"{folder}/.gitattributes": new for folder, (_, new) in zip(folders, changes, strict=True)})
    fresh = Cube(cube.folder / "fresh", cube.url)
    fresh.folder.mkdir()
    for each in (cube, fresh):
        ended = each.download()
        assert ended.code == 0, ended.output
    assert tree(cube.clone) == tree(fresh.clone)
    assert (cube.clone / "kept").stat().st_ino == kept
    read_again(cube)
    assert cube.download().code == 0


def test_edits_that_change_no_content_are_found(cube: Cube, writer: Author) -> None:
    raw(writer, {".gitattributes": LFS, "x.bin": b"plain", "y.bin": b"plain", "z.bin": b"plain"})
    assert cube.download().code == 0
    (cube.clone / "x.bin").chmod(0o755)
    (cube.clone / "y.bin").unlink()
    (cube.clone / "z.bin").unlink()
    (cube.clone / "z.bin").symlink_to("x.bin")
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "Dirty"), ended.output
    assert "'x.bin', 'y.bin', 'z.bin'" in ended.last["message"]
