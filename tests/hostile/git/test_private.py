"""What others put into Git's own directory in the claim after it was looked at has no effect on Git."""

import os
import struct
import subprocess
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git.checkout_commit import CommitCheckout
from stowplan.agents.transfer.remotes.git.commit import contents
from stowplan.agents.transfer.remotes.git.lfs.objects import LfsContent
from stowplan.agents.transfer.remotes.git.remote import find
from stowplan.agents.transfer.remotes.git.repository import Repository
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author
from tests.hostile.git.attempt import prepared_git


@pytest.fixture
def cloned(cube: Cube, writer: Author) -> Cube:
    writer.commit({"a": b"1", "folder/b": b"2"})
    assert cube.download().code == 0
    return cube


def commands(inside: Path, proof: Path) -> None:
    """Settings and attributes by which Git runs programs."""
    command = f"touch {proof}; cat"
    filters = f'[filter "evil"]\n\tsmudge = {command}\n\tclean = {command}\n\trequired = true\n'
    more = f"[include]\n\tpath = {inside}/more\n[core]\n\tfsmonitor = {command}\n\thooksPath = {inside}/hooks\n"
    (inside / "config").write_text(filters + more)
    (inside / "more").write_text(f"[core]\n\tsshCommand = {command}\n\tgitProxy = {command}\n")
    (inside / "config.worktree").write_text(filters)
    (inside / "info").mkdir(exist_ok=True)
    (inside / "info/attributes").write_text("* filter=evil\n")
    hooks(inside, proof)


def hooks(inside: Path, proof: Path) -> None:
    (inside / "hooks").mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-push"):
        (inside / "hooks" / name).write_text(f"#!/bin/sh\ntouch {proof}\n")
        (inside / "hooks" / name).chmod(0o755)


def objects_elsewhere(inside: Path, proof: Path) -> None:
    """Git would tell of an object directory that it cannot read."""
    (inside / "objects/info").mkdir(exist_ok=True)
    (inside / "objects/info/alternates").write_text(f"{proof}\n")
    (inside / "objects/info/commit-graph").write_bytes(b"CGPH\2\1\3\0none")
    (inside / "objects/pack/multi-pack-index").write_bytes(b"MIDX\1\1\0\0none")


def nothing_left(inside: Path, proof: Path) -> None:
    """Others remove the files of Git's own directory, except for the objects."""
    for name in ("HEAD", "config", "index", "packed-refs"):
        (inside / name).unlink(missing_ok=True)
    (inside / "HEAD").symlink_to(proof)


@pytest.mark.parametrize("change", [commands, objects_elsewhere, nothing_left])
def test_what_is_changed_after_the_check(
    cloned: Cube, writer: Author, tmp_path: Path, change: Callable[[Path, Path], None]
) -> None:
    commit = writer.commit({"a": b"new", "folder/c": b"3"})
    proof = tmp_path / "proof"
    with prepared_git(cloned) as git:
        repository = Repository(cloned.clone, git)
        repository.adopt(git.settings.address)
        change(cloned.clone / ".git", proof)
        wanted = find(git, git.settings.address, None)
        assert wanted
        _, found = CommitCheckout(repository, git.settings.address, None).run(wanted, None, fresh=False)
    assert found == commit
    assert tree(cloned.clone) == {"a": b"new", "folder/b": b"2", "folder/c": b"3"}
    assert not os.path.lexists(proof)


def test_objects_are_reached_by_no_path(cloned: Cube, writer: Author, tmp_path: Path) -> None:
    """A link that gets the place of their folder leads Git nowhere."""
    writer.commit({"a": b"new"})
    outside, inside = tmp_path / "outside", cloned.clone / ".git"
    (outside / "pack").mkdir(parents=True)
    with prepared_git(cloned) as git:
        repository = Repository(cloned.clone, git)
        repository.adopt(git.settings.address)
        (inside / "objects").rename(inside / "aside")
        (inside / "objects").symlink_to(outside)
        wanted = find(git, git.settings.address, None)
        assert wanted
        CommitCheckout(repository, git.settings.address, None).run(wanted, None, fresh=False)
    assert list(outside.rglob("*")) == [outside / "pack"]
    assert tree(cloned.clone)["a"] == b"new"


def test_index_with_paths_outside_of_the_work_tree(cloned: Cube, writer: Author) -> None:
    """Git would delete a file there, since the new commit has none."""
    writer.commit({"a": b"new"})
    victim = cloned.clone.parent / "victim"
    victim.write_bytes(b"")
    data = (cloned.clone / ".git/index").read_bytes()
    content, number = data[:-20], struct.unpack(">I", data[8:12])[0]
    blob = bytes.fromhex(cloned.git("hash-object", "-w", str(victim)))
    path = b"../victim"
    entry = struct.pack(">10I", *(0,) * 6, 0o100644, 0, 0, 0) + blob + struct.pack(">H", len(path)) + path
    entry += b"\0" * (8 - len(entry) % 8)
    # Entries are sorted by their path, so this is the first one.
    content = content[:8] + struct.pack(">I", number + 1) + entry + content[12:]
    (cloned.clone / ".git/index").write_bytes(content + sha1(content).digest())  # noqa: S324 - as Git has it
    assert "../victim" in cloned.git("ls-files", "--full-name")
    ended = cloned.download()
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeKeys"), ended.output
    assert victim.exists()


def test_people_read_the_clone_as_before(cloned: Cube, writer: Author) -> None:
    """Git's own directory in the claim says what is checked out, after the first copy and after a refresh."""
    for content in (b"1", b"2"):
        commit = writer.commit({"a": content})
        assert cloned.download().code == 0
        assert cloned.head == commit
        assert cloned.git("symbolic-ref", "HEAD") == "refs/heads/main"
        assert cloned.git("rev-parse", "refs/remotes/origin/main") == commit
        assert cloned.git("status", "--porcelain") == ""
        assert cloned.git("config", "branch.main.remote") == "origin"
    done = subprocess.run(["git", "fsck", "--full"], cwd=cloned.clone, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


ATTRIBUTES = b"*.big filter=lfs diff=lfs merge=lfs -text\n"
SECRET = b"of another team" * 100


def test_links_in_the_place_of_content_bring_no_other_file(cloned: Cube, writer: Author, tmp_path: Path) -> None:
    """Of the very size that the pointer says, after the content was fetched."""
    commit = writer.commit({".gitattributes": ATTRIBUTES, **writer.lfs({"1.big": b"x" * len(SECRET)})})
    (tmp_path / "secret").write_bytes(SECRET)
    with prepared_git(cloned) as git:
        repository = Repository(cloned.clone, git)
        repository.adopt(git.settings.address)
        address = git.settings.address
        git.online(repository.place, "fetch", "-q", address.url, f"{commit}:refs/stowplan/fetched", what="Fetching")
        content = LfsContent(repository, address, commit, contents.read(repository, commit, lfs=True))
        content.missing()
        content.fetch()
        (path,) = (each for each in (cloned.clone / ".git/lfs/objects").rglob("*") if each.is_file())
        path.unlink()
        path.symlink_to(tmp_path / "secret")
        with pytest.raises(AttemptError):
            git.offline(repository.place, "checkout", "--quiet", "--detach", commit)
    assert SECRET not in tree(cloned.clone).values()


def test_content_that_is_compared_is_not_kept(cloned: Cube, writer: Author) -> None:
    """It may be that of any file that a link led to for a moment."""
    writer.commit({".gitattributes": ATTRIBUTES, **writer.lfs({"1.big": b"x" * len(SECRET)})})
    assert cloned.download().code == 0
    (cloned.clone / "1.big").write_bytes(SECRET)
    ended = cloned.download()
    assert (ended.code, ended.last["reason"]) == (5, "Dirty"), ended.output
    kept = (each for each in (cloned.clone / ".git").rglob("*") if each.is_file())
    assert SECRET not in {each.read_bytes() for each in kept}
