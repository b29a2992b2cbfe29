"""Hostile repositories and servers."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.agents.transfer.faults import Fault, Proxy
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author
from tests.agents.transfer.git.server import Forge, serving


def test_links_that_lead_out(cube: Cube, writer: Author) -> None:
    (writer.folder / "inner").mkdir()
    (writer.folder / "inner/up").symlink_to("..")
    targets = ("/etc/passwd", "../outside", "deep/../../x", "inner/up/../x", ".git/config")
    for number, target in enumerate(targets):
        (writer.folder / f"link-{number}").symlink_to(target)
    (writer.folder / "good").symlink_to("inner/file")
    writer.git("add", "good", "inner/up", *(f"link-{number}" for number in range(len(targets))))
    writer.commit({"inner/file": b"x"})
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "LinksLeadOut"), ended.output
    assert f"{len(targets)} links" in ended.last["message"]
    assert not cube.clone.exists()


def test_links_within(cube: Cube, writer: Author) -> None:
    (writer.folder / "deep").mkdir()
    (writer.folder / "deep/up").symlink_to("../a")
    (writer.folder / "circle").symlink_to("circle")
    (writer.folder / "nowhere").symlink_to("gone")
    writer.git("add", "deep/up", "circle", "nowhere")
    writer.commit({"a": b"1"})
    ended = cube.download()
    assert ended.code == 0, ended.output
    assert tree(cube.clone)["deep/up"] == b"-> ../a"


def test_trees_with_entries_that_git_keeps_for_itself(cube: Cube, writer: Author) -> None:
    """Made by hand, since Git refuses to make them."""
    blob = writer.git("hash-object", "-w", "--stdin", feed=b"[core]\n\tfsmonitor = touch /tmp/owned\n")
    inner = raw_tree(writer, [(b"100644", b"config", blob)])
    outer = raw_tree(writer, [(b"40000", b".git", inner)])
    commit = writer.git("commit-tree", outer, "-m", "Hostile")
    writer.git("push", "-q", "origin", f"{commit}:refs/heads/main")
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeObjects"), ended.output
    assert not cube.clone.exists()


def raw_tree(author: Author, entries: list[tuple[bytes, bytes, str]]) -> str:
    data = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(digest) for mode, name, digest in entries)
    return author.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", feed=data)


def test_hooks_filters_and_settings_of_a_repository_start_nothing(cube: Cube, writer: Author, tmp_path: Path) -> None:
    """Those of the machine neither."""
    proof = tmp_path / "proof"
    (tmp_path / ".gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = touch {proof}\n[core]\n\thooksPath = {tmp_path}\n'
    )
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        (tmp_path / hook).write_text(f"#!/bin/sh\ntouch {proof}\n")
        (tmp_path / hook).chmod(0o755)
    writer.commit({"a": b"1", ".gitattributes": b"* filter=evil\n", ".gitconfig": b"[core]\n"})
    assert cube.download().code == 0
    writer.commit({"a": b"2"})
    assert cube.download().code == 0
    assert not proof.exists()


@pytest.mark.parametrize("where", ["clone", ".git", "path"])
def test_links_on_the_way(cube: Cube, writer: Author, tmp_path: Path, where: str) -> None:
    writer.commit({"a": b"1"})
    outside = tmp_path / "outside"
    outside.mkdir()
    if where == "path":
        (cube.claim / "data").symlink_to(outside)
    elif where == "clone":
        (cube.claim / "data").mkdir()
        cube.clone.symlink_to(outside)
    else:
        cube.clone.mkdir(parents=True)
        (cube.clone / ".git").symlink_to(outside)
    for ended in (cube.download(), cube.upload()):
        assert ended.code == 5, ended.output
    assert list(outside.iterdir()) == []


def test_lfs_that_is_not_on_the_web(cube: Cube, writer: Author) -> None:
    writer.commit({**writer.lfs({"1.big": b"1"}), ".gitattributes": b"*.big filter=lfs\n"})
    for url in ("file:///etc", "ssh://x/y", "http://user:s3cret-x@127.0.0.1:1/lfs"):
        writer.commit({".lfsconfig": f"[lfs]\n\turl = {url}\n".encode()})
        ended = cube.download()
        assert (ended.code, ended.last["reason"]) == (5, "LfsElsewhere")
        assert "s3cret" not in ended.output


def test_lfs_of_another_host_gets_no_token(cube: Cube, writer: Author, tmp_path: Path) -> None:
    """A host that the spec lists: first it asks for a password, then everybody may read."""
    with serving(tmp_path / "elsewhere") as other:
        config = f"[lfs]\n\turl = {other.url}/model.git/info/lfs\n".encode()
        data = {"1.big": b"1" * 3000}
        elsewhere = Author(writer.folder, other)
        pointers = elsewhere.lfs(data)
        writer.commit({**pointers, ".gitattributes": b"*.big filter=lfs\n", ".lfsconfig": config})
        hosts = [other.url.removeprefix("http://")]
        ended = cube.download(hosts=hosts)
        assert (ended.code, ended.last["reason"]) == (3, "AccessDenied"), ended.output
        other.users = {}
        ended = cube.download(hosts=hosts)
        assert ended.code == 0, ended.output
        assert tree(cube.clone)["1.big"] == data["1.big"]
        assert len(other.seen) >= 3
        assert {authorization for _, authorization in other.seen} == {""}


def test_objects_of_lfs_on_another_host_get_no_token(cube: Cube, writer: Author, forge: Forge, tmp_path: Path) -> None:
    with serving(tmp_path / "elsewhere") as other:
        other.users = {}
        forge.lfs_url = other.url
        data = {"1.big": b"1" * 3000}
        Author(writer.folder, other).lfs(data)
        writer.commit({**writer.lfs(data), ".gitattributes": b"*.big filter=lfs\n"})
        ended = cube.download(hosts=[other.url.removeprefix("http://")])
        assert ended.code == 0, ended.output
        assert tree(cube.clone)["1.big"] == data["1.big"]
        assert {authorization for _, authorization in other.seen} == {""}


@pytest.mark.parametrize("way", ["download", "upload"])
def test_redirect_takes_the_token_nowhere(cube: Cube, writer: Author, proxy: Proxy, tmp_path: Path, way: str) -> None:
    writer.commit({"a": b"1", ".gitattributes": b"*.big filter=lfs\n", **writer.lfs({"1.big": b"1" * 3000})})
    if way == "upload":
        assert cube.download().code == 0
        cube.git("commit", "--allow-empty", "-q", "-m", "Mine")
    with serving(tmp_path / "elsewhere") as other:
        (tmp_path / "elsewhere/model.git").symlink_to(writer.bare)
        proxy.rule = lambda request: Fault(307, headers={"Location": other.url + request.path})
        ended = cube.download() if way == "download" else cube.upload()
        assert (ended.code, ended.last["reason"]) == (5, "OtherHost"), ended.output
        assert other.seen == []


def test_repository_of_another_user(cube: Cube, writer: Author) -> None:
    if os.geteuid():
        pytest.skip("only root can give files away")
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    subprocess.run(["chown", "-R", "12345:12345", cube.clone], check=True)
    writer.commit({"a": b"2"})
    ended = cube.download()
    assert (ended.code, tree(cube.clone)) == (0, {"a": b"2"}), ended.output
