"""Manipulated clones in the claim, which redirect Git, and deceptive trees."""

import os
from itertools import starmap
from pathlib import Path

import pytest

from tests.agents.transfer.faults import Fault, Proxy, Request
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author, author
from tests.agents.transfer.git.server import Forge


@pytest.fixture
def cloned(cube: Cube, writer: Author) -> Cube:
    writer.commit({"a": b"1", "folder/b": b"2"})
    assert cube.download().code == 0
    return cube


FOREIGN = [
    ("core.fsmonitor", "touch proof"),
    ("core.sparseCheckout", "true"),
    ("core.splitIndex", "true"),
    ("core.autocrlf", "true"),
    ("fetch.fsckObjects", "false"),
    ("receive.fsckObjects", "false"),
    ("fetch.bundleURI", "http://127.0.0.1:1/x"),
    ("filter.evil.smudge", "touch proof"),
    ("hook.evil.command", "touch proof"),
    ("http.http://127.0.0.1/.proxy", "http://evil.example.com"),
    ("gc.recentObjectsHook", "touch proof"),
    ("core.alternateRefsCommand", "touch proof"),
    ("include.path", "/tmp/x"),
    ("lfs.customtransfer.x.path", "touch proof"),
    ("lfs.http://127.0.0.1.standalonetransferagent", "x"),
    ("something.new", "x"),
    ("remote.origin.promisor", "true"),
    ("remote.origin.proxy", "http://evil.example.com"),
    ("submodule.x.fetchrecursesubmodules", "true"),
    ("url.http://evil.example.com/.insteadOf", "http://"),
    ("extensions.worktreeConfig", "true"),
    ("index.sparse", "true"),
]
"""Settings that lead Git elsewhere, start programs, hide changes, or that nobody knows."""


def test_foreign_settings_are_refused(cloned: Cube, writer: Author) -> None:
    writer.commit({"a": b"2"})
    config = cloned.clone / ".git/config"
    usual = config.read_text()
    # A message names ten.
    for first in range(0, len(FOREIGN), 10):
        some = FOREIGN[first : first + 10]
        config.write_text(usual + "".join(starmap(written, some)))
        ended = cloned.download()
        assert (ended.code, ended.last["reason"]) == (5, "ForeignConfig"), ended.output
        assert [key for key, _ in some if key.lower() not in ended.last["message"].lower()] == []
        assert tree(cloned.clone)["a"] == b"1"


def written(key: str, value: str) -> str:
    """A setting as a file has it."""
    section, _, field = key.rpartition(".")
    name, _, rest = section.partition(".")
    return (f'[{name} "{rest}"]' if rest else f"[{name}]") + f"\n\t{field} = {value}\n"


def test_settings_that_people_have_are_taken(cloned: Cube) -> None:
    for key, value in (
        ("user.name", "Somebody"),
        ("branch.main.rebase", "true"),
        ("pull.rebase", "true"),
        ("remote.origin.prune", "true"),
        ("lfs.http://127.0.0.1/x.git/info/lfs.access", "basic"),
        ("submodule.inner.url", "https://example.com/inner.git"),
        ("core.ignorecase", "false"),
        ("advice.detachedHead", "false"),
    ):
        cloned.git("config", "--local", key, value)
    assert cloned.download().code == 0


def test_a_clone_as_git_itself_makes_it(cube: Cube, writer: Author) -> None:
    """With submodules and Git LFS, as the old system did."""
    writer.commit({"a": b"1"})
    cube.clone.parent.mkdir()
    folder = Author(cube.clone.parent, writer.forge)
    folder.git("clone", "-q", "--recurse-submodules", str(writer.bare), "model")
    cube.git("config", "remote.origin.url", cube.url)
    Author(cube.clone, writer.forge).git("lfs", "install", "--local", "--skip-repo")
    writer.commit({"a": b"2"})
    ended = cube.download()
    assert ended.code == 0, ended.output


NAMES = ("objects", "config", "index", "lfs", "refs/heads/linked", "HEAD", "info", "objects/pack/x.pack", "modules/x")


def test_links_inside_of_git_are_refused(cloned: Cube, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for name in NAMES:
        path = cloned.clone / ".git" / name
        was_there = path.exists()
        if was_there:
            path.rename(elsewhere)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(elsewhere)
        # Both ways look at a clone by one function.
        ended = cloned.upload() if name == NAMES[0] else cloned.download()
        assert ended.code == 5, ended.output
        assert ended.last["reason"] in ("Link", "NotARepository")
        path.unlink()
        if was_there:
            elsewhere.rename(path)
    assert cloned.download().code == 0


def test_files_that_lead_elsewhere_are_refused(cloned: Cube) -> None:
    for name in ("objects/info/alternates", "commondir", "info/attributes", "info/grafts", "config.worktree"):
        path = cloned.clone / ".git" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("/etc\n")
        ended = cloned.download()
        assert (ended.code, ended.last["reason"]) == (5, "Link"), ended.output
        path.unlink()
    assert cloned.download().code == 0


def test_pipes_do_not_hang(cloned: Cube) -> None:
    os.mkfifo(cloned.clone / ".git/lfs")
    assert cloned.download().code == 5


@pytest.mark.parametrize("mark", ["--skip-worktree", "--assume-unchanged"])
def test_edits_that_the_index_hides(cloned: Cube, mark: str) -> None:
    cloned.git("update-index", mark, "a")
    (cloned.clone / "a").unlink()
    ended = cloned.download()
    assert (ended.code, ended.last["reason"]) == (5, "HiddenChanges"), ended.output


def test_sparse_checkout_leaves_no_file_out(cube: Cube, writer: Author) -> None:
    """A clone that is not complete yet, where nobody looks at what is checked out."""
    writer.commit({"a": b"1", "folder/b": b"2"})
    hidden = cube.hidden
    hidden.mkdir(parents=True)
    Author(hidden, writer.forge).git("init", "-q", "--template=")
    (hidden / ".git/info").mkdir(exist_ok=True)
    (hidden / ".git/info/sparse-checkout").write_text("/nothing\n")
    with (hidden / ".git/config").open("a") as file:
        file.write(f'[core]\n\tsparseCheckout = true\n[remote "origin"]\n\turl = {cube.url}\n')
    ended = cube.download()
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == {"a": b"1", "folder/b": b"2"}


def bomb(writer: Author, files: int, depth: int) -> None:
    """A commit of `files` to the power of `depth` files, of a few kilobytes."""
    blob = writer.git("hash-object", "-w", "--stdin", feed=b"x")
    mode, name = "100644 blob", blob
    for _ in range(depth):
        listing = "".join(f"{mode} {name}\t{number:04}\n" for number in range(files))
        name, mode = writer.git("mktree", feed=listing.encode()), "040000 tree"
    commit = writer.git("commit-tree", name, "-m", "Many")
    writer.git("push", "-q", "origin", f"{commit}:refs/heads/main")


def test_tree_of_a_great_many_files(cube: Cube, writer: Author) -> None:
    bomb(writer, 100, 5)
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "TooLarge"), ended.output
    assert not cube.clone.exists()


def test_link_of_a_great_many_bytes(cube: Cube, writer: Author) -> None:
    blob = writer.git("hash-object", "-w", "--stdin", feed=b"x" * 5000)
    link = writer.git("mktree", feed=f"120000 blob {blob}\tlink\n".encode())
    commit = writer.git("commit-tree", link, "-m", "Link")
    writer.git("push", "-q", "origin", f"{commit}:refs/heads/main")
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "LinksLeadOut"), ended.output


def test_refs_without_end(cube: Cube, writer: Author, proxy: Proxy) -> None:
    writer.commit({"a": b"1"})
    line = b"".join(b"003d" + b"%040x" % number + b" refs/heads/%05d\n" % number for number in range(100_000))
    head = b"001e# service=git-upload-pack\n0000"

    def rule(request: Request) -> Fault | None:
        if "info/refs" not in request.path:
            return None
        return Fault(200, head + line * 12, {"Content-Type": "application/x-git-upload-pack-advertisement"})

    proxy.rule = rule
    ended = Cube(cube.folder, cube.url, {"requestRetries": 0}).download()
    assert (ended.code, ended.last["reason"]) == (5, "TooLarge"), ended.output


def test_submodule_inside_of_another(cube: Cube, writer: Author, forge: Forge, tmp_path: Path) -> None:
    """By its name, its Git directory would lie among the objects of the first one."""
    inner = author(tmp_path / "inner", forge, "inner.git")
    commit = inner.commit({"i": b"1"})
    modules = "".join(
        f'[submodule "{name}"]\n\tpath = {path}\n\turl = ../inner.git\n'
        for name, path in (("one", "one"), ("one/objects", "two"))
    )
    writer.git("update-index", "--add", "--cacheinfo", f"160000,{commit},one")
    writer.git("update-index", "--add", "--cacheinfo", f"160000,{commit},two")
    writer.commit({".gitmodules": modules.encode()})
    ended = cube.download(submodules=True)
    assert (ended.code, ended.last["reason"]) == (5, "Submodules"), ended.output


def test_old_git_directory_of_the_web_names_no_other_host(cube: Cube, writer: Author, proxy: Proxy) -> None:
    """The dumb protocol has files that say where more objects are."""
    writer.commit({"a": b"1"})
    other = f"http://localhost:{proxy.url.rpartition(':')[2]}"

    def rule(request: Request) -> Fault | None:
        if "info/refs" in request.path:
            return Fault(200, f"{writer.head}\trefs/heads/main\n".encode(), {"Content-Type": "text/plain"})
        if request.path.endswith("HEAD"):
            return Fault(200, b"ref: refs/heads/main\n")
        if request.path.endswith("http-alternates"):
            return Fault(200, f"{other}/evil.git/objects\n".encode())
        return Fault(404)

    proxy.rule = rule
    ended = Cube(cube.folder, cube.url, {"requestRetries": 0}).download()
    assert ended.code != 0
    assert not [each for each in proxy.requests if each.host.startswith("localhost")]
