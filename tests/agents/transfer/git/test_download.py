"""From a real Git server to a claim."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.agents.transfer.faults import Proxy
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author, author, pointer
from tests.agents.transfer.git.server import Forge
from tests.agents.transfer.reports import Reports
from tests.agents.transfer.short_writes import library, losing

FILES = {"a.txt": b"a", "deep/er/b.bin": bytes(range(256)) * 300, "deep/ü n.txt": b"", "[x]*": b"odd"}


def test_head_of_the_remote_is_the_default(cube: Cube, writer: Author) -> None:
    writer.git("checkout", "-q", "-b", "trunk")
    commit = writer.commit(FILES)
    writer.git("push", "-q", "origin", "HEAD:refs/heads/master")
    writer.git("--git-dir", str(writer.bare), "symbolic-ref", "HEAD", "refs/heads/trunk")
    ended = cube.download(run="run")
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == FILES
    assert (cube.head, cube.git("symbolic-ref", "HEAD")) == (commit, "refs/heads/trunk")
    assert cube.git("status", "--porcelain") == ""
    assert cube.git("config", "remote.origin.url") == cube.url
    assert not cube.hidden.exists()


def test_run_that_was_done_still_tells_what_it_brought(cube: Cube, writer: Author, reports: Reports) -> None:
    """A Job that is made once more: what a report leaves out is gone from the status."""
    first = writer.commit({"a": b"1"})
    reporting: dict[str, Any] = {"environment": reports.environment, "more": (reports.argument,)}
    for ended in (cube.download(run="one", **reporting), cube.download(run="one", **reporting)):
        assert (ended.code, reports.status["revision"]) == (0, first), ended.output
    assert "complete before" in ended.last["message"]
    new = writer.commit({"a": b"2"})
    assert (cube.download(run="two", **reporting).code, reports.status["revision"]) == (0, new)
    assert (cube.download(run="one", **reporting).code, "revision" in reports.status) == (0, False)
    clone = Author(cube.clone, writer.forge)
    clone.git("commit", "-q", "--allow-empty", "-m", "Trained")
    for ended in (cube.upload(run="up", **reporting), cube.upload(run="up", **reporting)):
        assert (ended.code, reports.status["revision"]) == (0, clone.head), ended.output


def test_branch_tag_and_commit(cube: Cube, writer: Author) -> None:
    first = writer.commit({"a": b"1"})
    writer.git("tag", "-a", "v1", "-m", "One")
    writer.git("tag", "light")
    second = writer.commit({"a": b"2"})
    for ref, commit in (("v1", first), ("main", second), (first, first), (first[:10], first), ("light", first)):
        ended = cube.download(ref)
        assert ended.code == 0, ended.output
        assert (cube.head, tree(cube.clone)) == (commit, {"a": b"1" if commit == first else b"2"})
    assert cube.git("rev-parse", "v1^{commit}") == first
    ended = cube.download("refs/heads/main")
    assert (ended.code, cube.git("symbolic-ref", "HEAD")) == (0, "refs/heads/main")


def test_branch_comes_before_a_tag_of_the_same_name(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"tag"})
    writer.git("tag", "both")
    writer.git("checkout", "-q", "-b", "both")
    (writer.folder / "a").write_bytes(b"branch")
    writer.git("commit", "-qam", "Branch")
    writer.git("push", "-q", "origin", "refs/heads/both", "refs/tags/both")
    ended = cube.download("both")
    assert (ended.code, tree(cube.clone)) == (0, {"a": b"branch"})
    assert "branch both" in ended.last["message"]
    ended = cube.download("refs/tags/both")
    assert (ended.code, tree(cube.clone)) == (0, {"a": b"tag"})
    assert "tag both" in ended.last["message"]


def test_commit_that_the_server_gives_to_nobody_by_name(cube: Cube, writer: Author, proxy: Proxy) -> None:
    """Servers with the old protocol give advertised commits alone, so the whole history is fetched."""
    first = writer.commit({"a": b"1"})
    writer.commit({"a": b"2"})
    writer.git("--git-dir", str(writer.bare), "config", "protocol.version", "0")
    writer.git("--git-dir", str(writer.bare), "config", "uploadpack.allowAnySHA1InWant", "false")
    cube.claim.mkdir(exist_ok=True)
    ended = cube.download(first)
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == {"a": b"1"}


@pytest.mark.parametrize("ref", ["nowhere", "0123456789abcdef0123456789abcdef01234567", "abcdef1"])
def test_nothing_of_the_name(cube: Cube, writer: Author, ref: str) -> None:
    writer.commit({"a": b"1"})
    ended = cube.download(ref)
    assert (ended.code, ended.last["reason"]) == (4, "NoSuchRef")
    assert not cube.clone.exists()


def test_empty_repository(cube: Cube, writer: Author) -> None:
    ended = cube.download("main")
    assert (ended.code, ended.last["reason"]) == (4, "NoSuchRef")
    ended = cube.download(run="run")
    assert ended.code == 0, ended.output
    assert "is empty" in ended.last["message"]
    assert tree(cube.clone) == {}
    commit = writer.commit({"a": b"1"})
    assert cube.download().code == 0
    assert (cube.head, tree(cube.clone)) == (commit, {"a": b"1"})


def test_head_that_names_no_branch(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1"})
    writer.git("push", "-q", "origin", "HEAD:refs/heads/other")
    writer.git("--git-dir", str(writer.bare), "symbolic-ref", "HEAD", "refs/heads/gone")
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (4, "NoHead")
    writer.git("push", "-q", "origin", "HEAD:refs/heads/master")
    assert cube.download().code == 0
    assert cube.git("symbolic-ref", "HEAD") == "refs/heads/master"


def test_again_with_nothing_changed(cube: Cube, writer: Author, proxy: Proxy) -> None:
    writer.commit({**FILES, ".gitattributes": b"*.big filter=lfs\n", **writer.lfs({"w.big": b"w" * 5000})})
    assert cube.download(run="one").code == 0
    written = {path: path.stat().st_mtime_ns for path in cube.clone.rglob("*") if ".git" not in path.parts}
    before = len(proxy.requests)
    ended = cube.download(run="two")
    assert (ended.code, ended.last["filesUnchanged"]) == (0, len(FILES) + 2)
    assert "as it was before" in ended.last["message"]
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert all("info/refs" in each.path or each.path.endswith("upload-pack") for each in proxy.requests[before:])
    before = len(proxy.requests)
    assert cube.download(run="two").code == 0
    assert len(proxy.requests) == before


def test_branch_that_moved(cube: Cube, writer: Author) -> None:
    old = writer.commit({"a": b"1", "gone": b"x"})
    assert cube.download().code == 0
    writer.git("rm", "-q", "gone")
    new = writer.commit({"a": b"2"})
    ended = cube.download()
    assert (ended.code, cube.head, tree(cube.clone)) == (0, new, {"a": b"2"})
    assert old[:12] in ended.last["message"]
    assert new[:12] in ended.last["message"]
    assert cube.git("status", "--porcelain") == ""


def test_history_that_was_written_anew(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1"})
    writer.commit({"a": b"2"})
    assert cube.download().code == 0
    writer.git("reset", "-q", "--hard", "HEAD~")
    (writer.folder / "a").write_bytes(b"3")
    writer.git("commit", "-qam", "Other")
    writer.git("push", "-q", "--force", "origin", "HEAD")
    assert cube.download().code == 0
    assert (cube.head, tree(cube.clone)) == (writer.head, {"a": b"3"})


def test_edits_are_never_lost(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1", "b": b"1"})
    assert cube.download().code == 0
    (cube.clone / "b").write_bytes(b"mine")
    (cube.clone / "own").write_bytes(b"own")
    writer.commit({"a": b"2"})
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "Dirty")
    assert "'b'" in ended.last["message"]
    assert tree(cube.clone) == {"a": b"1", "b": b"mine", "own": b"own"}
    cube.git("checkout", "b")
    writer.commit({"own": b"theirs"})
    for _ in range(2):
        ended = cube.download()
        assert (ended.code, ended.last["reason"]) == (5, "Dirty")
        assert tree(cube.clone) == {"a": b"1", "b": b"1", "own": b"own"}
    (cube.clone / "own").unlink()
    assert cube.download().code == 0
    assert tree(cube.clone) == {"a": b"2", "b": b"1", "own": b"theirs"}


def test_commits_of_the_claim_are_never_lost(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    cube.git("commit", "--allow-empty", "-q", "-m", "Mine")
    mine = cube.head
    assert cube.download().last["reason"] == "LocalCommits"
    writer.commit({"a": b"2"})
    ended = cube.download()
    assert (ended.code, ended.last["reason"], cube.head) == (5, "LocalCommits", mine)
    cube.git("push", "-q", str(writer.bare), f"{mine}:refs/heads/kept")
    cube.git("reset", "-q", "--hard", "HEAD~")
    assert cube.download().code == 0
    assert tree(cube.clone) == {"a": b"2"}


def test_directory_that_is_no_repository(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1"})
    cube.clone.mkdir(parents=True)
    assert cube.download().code == 0, "an empty one is no hindrance"
    other = Cube(cube.folder, cube.url.replace("model", "other"))
    other.clone.mkdir()
    (other.clone / "file").write_bytes(b"mine")
    (other.folder / "forge/model.git").rename(other.folder / "forge/other.git")
    ended = other.download()
    assert (ended.code, ended.last["reason"]) == (5, "NotARepository")
    assert tree(other.clone) == {"file": b"mine"}


def test_repository_of_another_origin(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    cube.git("config", "remote.origin.url", "https://u:p4ssw0rd@example.com/x/model.git")
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "OtherOrigin")
    assert "https://example.com/x/model.git" in ended.last["message"]
    assert cube.url in ended.last["message"]
    assert "p4ssw0rd" not in ended.output + (cube.clone / ".git/config").read_text()


def test_clone_of_the_old_system(cube: Cube, writer: Author, forge: Forge) -> None:
    """It has the token in its configuration, a branch with an upstream, and locks of a killed program."""
    writer.commit({"a": b"1"})
    cube.clone.parent.mkdir(parents=True)
    users, forge.users = forge.users, {}
    writer.git("clone", "-q", cube.url, str(cube.clone))
    forge.users = users
    cube.git("config", "remote.origin.url", cube.url.replace("http://", "http://robot:0ld-t0ken@"))
    for name in ("index.lock", "shallow.lock", "refs/heads/main.lock"):
        (cube.clone / ".git" / name).touch()
    writer.commit({"a": b"2"})
    ended = cube.download()
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == {"a": b"2"}
    kept = "".join(path.read_text(errors="replace") for path in cube.claim.rglob("*") if path.is_file())
    assert "0ld-t0ken" not in kept.replace(ended.output, "")
    assert not list(cube.clone.rglob("*.lock"))


def test_depth(cube: Cube, writer: Author) -> None:
    for number in range(5):
        writer.commit({"a": b"%d" % number})
    assert cube.download(depth=2).code == 0
    assert cube.git("rev-list", "--count", "HEAD") == "2"
    writer.commit({"a": b"5"})
    ended = cube.download(depth=2)
    assert ended.code == 0, ended.output
    assert (cube.git("rev-list", "--count", "HEAD"), tree(cube.clone)) == ("2", {"a": b"5"})
    assert cube.download().code == 0
    assert cube.git("rev-list", "--count", "HEAD") == "6"


def test_repository_with_longer_names(cube: Cube, forge: Forge) -> None:
    other = author(cube.folder / "other-author", forge, "long.git", "--object-format=sha256")
    commit = other.commit({"a": b"1"})
    long = Cube(cube.folder, cube.url.replace("model", "long"))
    ended = long.download()
    assert ended.code == 0, ended.output
    assert (long.head, len(commit)) == (commit, 64)


def test_file_in_lfs(cube: Cube, writer: Author, proxy: Proxy) -> None:
    data = {"w/1.big": b"1" * 300_000, "w/2.big": b"2" * 10, "w/3.big": b"1" * 300_000}
    pointers = writer.lfs(data)
    fixture = {"fixture.txt": pointer(b"no such thing")}
    attributes = {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n"}
    writer.commit({**pointers, **fixture, **attributes, "a": b"a"})
    ended = cube.download()
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == {**data, **fixture, **attributes, "a": b"a"}
    assert ended.last["bytesDone"] == ended.last["bytesTotal"] == sum(map(len, tree(cube.clone).values()))
    assert proxy.count("GET", "/info/lfs/") == 2, "each object once"
    writer.commit({"a": b"b"})
    before = len(proxy.requests)
    assert cube.download().code == 0
    assert not [each for each in proxy.requests[before:] if "/lfs/" in each.path]


def test_without_lfs(cube: Cube, writer: Author, proxy: Proxy) -> None:
    data = {"1.big": b"1" * 3000}
    pointers = writer.lfs(data)
    attributes = {".gitattributes": b"*.big filter=lfs\n"}
    writer.commit({**pointers, **attributes})
    assert cube.download(lfs=False).code == 0
    assert tree(cube.clone) == {**pointers, **attributes}
    assert not [each for each in proxy.requests if "/lfs/" in each.path]
    ended = cube.download()
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == {**data, **attributes}, "pointers that are there are filled"


def test_object_that_the_server_of_lfs_lacks(cube: Cube, writer: Author, forge: Forge) -> None:
    pointers = writer.lfs({"1.big": b"1" * 3000, "2.big": b"2"})
    writer.commit({**pointers, ".gitattributes": b"*.big filter=lfs\n"})
    for each in forge.objects().iterdir():
        if each.stat().st_size == 1:
            each.unlink()
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (4, "LfsMissing"), ended.output
    assert not cube.clone.exists()


def test_object_that_was_damaged(cube: Cube, writer: Author) -> None:
    data = {"1.big": b"1" * 3000}
    writer.commit({**writer.lfs(data), ".gitattributes": b"*.big filter=lfs\n"})
    assert cube.download().code == 0
    (one,) = [path for path in (cube.clone / ".git/lfs/objects").rglob("*") if path.is_file()]
    one.chmod(0o644)
    one.write_bytes(b"x" * 3000)
    (cube.clone / ".git/stowplan-lfs").unlink()
    # A Git without Git LFS leaves the pointer, which is no edit.
    (cube.clone / "1.big").write_bytes(pointer(data["1.big"]))
    cube.git("add", "1.big")
    ended = cube.download()
    assert ended.code == 0, ended.output
    assert (one.read_bytes(), (cube.clone / "1.big").read_bytes()) == (data["1.big"], data["1.big"])


@pytest.mark.parametrize("lfs", [True, False])
def test_object_of_the_clone_that_is_missing(cube: Cube, writer: Author, *, lfs: bool) -> None:
    writer.commit({**writer.lfs({"1.big": b"1" * 3000}), ".gitattributes": b"*.big filter=lfs\n", "a": b"1"})
    assert cube.download(lfs=lfs).code == 0
    objects = cube.clone / ".git/objects"
    (pack,) = (objects / "pack").glob("*.pack")
    aside = pack.rename(cube.folder / "pack")
    cube.git("unpack-objects", "-q", feed=aside.read_bytes())
    name = cube.git("rev-parse", "HEAD:1.big")
    (objects / name[:2] / name[2:]).unlink()
    writer.commit({"a": b"2"})
    ended = cube.download(lfs=lfs)
    assert (ended.code, ended.last["reason"]) == (11, "Corrupt"), ended.output
    assert name in ended.last["message"]


def test_submodules(cube: Cube, writer: Author, forge: Forge, proxy: Proxy) -> None:
    inner = author(cube.folder / "inner", forge, "inner.git")
    big = {"x.big": b"x" * 2000}
    inner.commit({"i": b"1", ".gitattributes": b"*.big filter=lfs\n", **inner.lfs(big)})
    middle = author(cube.folder / "middle", forge, "middle.git")
    add(middle, "../inner.git", "in/ner", inner.head)
    middle.commit({"m": b"1"})
    add(writer, "./../middle.git", "mid", middle.head)
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    assert list((cube.clone / "mid").iterdir()) == []
    ended = cube.download(submodules=True)
    assert ended.code == 0, ended.output
    there = tree(cube.clone)
    assert there["mid/m"] == b"1"
    assert there["mid/in/ner/x.big"] == big["x.big"]
    assert cube.git("status", "--porcelain") == ""
    new = inner.commit({"i": b"2"})
    add(middle, "../inner.git", "in/ner", new)
    add(writer, "./../middle.git", "mid", middle.commit({"m": b"2"}))
    writer.commit({"a": b"2"})
    ended = cube.download(submodules=True)
    assert ended.code == 0, ended.output
    there = tree(cube.clone)
    assert (there["a"], there["mid/m"], there["mid/in/ner/i"]) == (b"2", b"2", b"2")


def test_submodule_of_another_host(cube: Cube, writer: Author) -> None:
    add(writer, "http://localhost:1/inner.git", "inner", "1" * 40)
    writer.commit({"a": b"1"})
    ended = cube.download(submodules=True)
    assert (ended.code, ended.last["reason"]) == (5, "OtherHost")
    assert not cube.clone.exists()


def add(author: Author, url: str, path: str, commit: str) -> None:
    """A submodule, as far as commits know of it."""
    text = f'[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n'
    (author.folder / ".gitmodules").write_text(text)
    (author.folder / path).mkdir(parents=True, exist_ok=True)
    author.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    author.git("add", ".gitmodules")
    author.git("commit", "-q", "-m", "Submodule")


def test_objects_of_lfs_are_whole_whatever_one_write_takes(cube: Cube, writer: Author, tmp_path: Path) -> None:
    data = {"a.big": bytes(range(256)) * 8192}
    writer.commit({".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n", **writer.lfs(data)})
    short = {"LD_PRELOAD": library(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = cube.download(environment=short)
    assert ended.code == 0, ended.output
    assert (cube.clone / "a.big").read_bytes() == data["a.big"]


def test_a_file_that_lost_bytes_is_told(cube: Cube, writer: Author, tmp_path: Path) -> None:
    """As on a network file system that runs full: Git takes for written what `write` says."""
    converted = b"*.crlf text eol=crlf\n*.id ident\n"
    writer.commit({".gitattributes": converted, "a.crlf": b"1\n2\n", "a.id": b"$Id$\n", "deep/lost.txt": b"12345678"})
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text(f'#!/bin/sh\nLD_PRELOAD={losing(tmp_path)} exec {shutil.which("git")} "$@"\n')
    (programs / "git").chmod(0o755)
    ended = cube.download(environment={"PATH": f"{programs}:{os.environ['PATH']}"})
    assert (ended.code, ended.last["reason"]) == (11, "FilesMissing"), ended.output
    assert "'deep/lost.txt' (4 of 8 bytes)" in ended.last["message"]
    assert not cube.clone.exists()
    ended = cube.download()
    assert ended.code == 0, ended.output
    assert (cube.clone / "a.crlf").read_bytes() == b"1\r\n2\r\n"
    assert (cube.clone / "deep/lost.txt").read_bytes() == b"12345678"
