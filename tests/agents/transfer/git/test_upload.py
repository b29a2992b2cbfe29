"""From a repository in a claim to a real Git server."""

import os
import shutil
from pathlib import Path

import pytest

from tests.agents.transfer.faults import Fault, Proxy, Request
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author
from tests.agents.transfer.git.server import Forge


@pytest.fixture
def trained(cube: Cube, writer: Author) -> Author:
    """A clone in the claim, and somebody who commits there."""
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    found = Author(cube.clone, writer.forge)
    found.git("lfs", "install", "--local", "--skip-repo")
    return found


def commit(author: Author, files: dict[str, bytes]) -> str:
    """A commit that is not pushed."""
    for path, data in files.items():
        (author.folder / path).write_bytes(data)
    author.git("add", "--", *files)
    author.git("commit", "-q", "-m", "Trained")
    return author.head


def at(author: Author, branch: str = "main") -> str:
    """The commit of a branch on the server."""
    return author.git("--git-dir", str(author.bare), "rev-parse", branch)


def test_commits_are_pushed(cube: Cube, trained: Author, proxy: Proxy) -> None:
    new = commit(trained, {"a": b"2"})
    before = (cube.clone / ".git/config").read_text()
    ended = cube.upload(run="run")
    assert ended.code == 0, ended.output
    assert (at(trained), new[:12] in ended.last["message"]) == (new, True)
    assert (cube.clone / ".git/config").read_text() == before
    requests = len(proxy.requests)
    ended = cube.upload(run="other")
    assert (ended.code, "was there before" in ended.last["message"]) == (0, True)
    assert cube.upload(run="other").last["message"].startswith("This run was complete before")
    assert not [each for each in proxy.requests[requests:] if each.path.endswith("git-receive-pack")]
    assert cube.download().code == 0


def test_content_goes_to_lfs_before_the_branch(cube: Cube, trained: Author, proxy: Proxy, forge: Forge) -> None:
    data = {"1.big": b"1" * 200_000, "2.big": b"2" * 2_500_000}
    commit(trained, {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n", **data})
    ended = cube.upload()
    assert ended.code == 0, ended.output
    assert at(trained) == trained.head
    assert sorted(path.read_bytes() for path in forge.objects().iterdir()) == sorted(data.values())
    puts = [index for index, each in enumerate(proxy.requests) if each.method == "PUT"]
    (push,) = [index for index, each in enumerate(proxy.requests) if each.path.endswith("/git-receive-pack")][-1:]
    assert max(puts) < push
    commit(trained, {"3.big": b"3" * 100})
    before = len(proxy.requests)
    assert cube.upload().code == 0
    assert sum(each.method == "PUT" for each in proxy.requests[before:]) == 1
    assert len(list(forge.objects().iterdir())) == 3


def test_files_of_lfs_that_git_must_look_into(cube: Cube, trained: Author, forge: Forge) -> None:
    """As those of a clone that is as young as its index: only their content tells that nobody has edited them."""
    data = {"1.big": b"1" * 200_000, "2 of 2.big": b"2" * 300}
    commit(trained, {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n", **data})
    trained.git("switch", "-q", "-c", "new")
    for path in data:
        os.utime(cube.clone / path, (1, 1))
    ended = cube.upload()
    assert (ended.code, "nobody committed" in ended.last["message"]) == (0, False), ended.output
    assert (at(trained, "new"), len(list(forge.objects().iterdir()))) == (trained.head, 2)
    (cube.clone / "1.big").write_bytes(b"3" * 200_000)
    ended = cube.upload()
    assert (ended.code, "; 1 files have changes" in ended.last["message"]) == (0, True), ended.output
    kept = {path.name for path in (cube.clone / ".git/lfs/objects").rglob("*") if path.is_file()}
    assert kept == {path.name for path in forge.objects().iterdir()}


def test_lfs_content_that_is_not_there(cube: Cube, trained: Author) -> None:
    commit(trained, {".gitattributes": b"*.big filter=lfs\n", "1.big": b"1" * 200_000})
    shutil.rmtree(cube.clone / ".git/lfs/objects")
    (cube.clone / ".git/lfs/objects").mkdir()
    before = at(trained)
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (5, "LfsMissing"), ended.output
    assert at(trained) == before


def test_new_branch(cube: Cube, trained: Author) -> None:
    trained.git("checkout", "-q", "-b", "tuned/one")
    new = commit(trained, {"a": b"2"})
    assert cube.upload().code == 0
    assert at(trained, "tuned/one") == new


def test_changes_that_nobody_committed_stay_where_they_are(cube: Cube, trained: Author) -> None:
    new = commit(trained, {"a": b"2"})
    (cube.clone / "a").write_bytes(b"3")
    ended = cube.upload()
    assert (ended.code, at(trained), tree(cube.clone)["a"]) == (0, new, b"3")
    assert "1 files have changes that nobody committed" in ended.last["message"]


def test_branch_that_others_pushed_to(cube: Cube, trained: Author, writer: Author) -> None:
    commit(trained, {"a": b"2"})
    theirs = writer.commit({"b": b"theirs"})
    ended = cube.upload()
    assert (ended.code, ended.last["reason"], at(writer)) == (5, "NonFastForward", theirs)


def test_branch_that_moves_in_the_middle(cube: Cube, trained: Author, writer: Author, proxy: Proxy) -> None:
    """After it was looked at, and before the push."""
    commit(trained, {"a": b"2"})
    theirs: list[str] = []

    def rule(request: Request) -> Fault | None:
        if request.method == "GET" and "git-receive-pack" in request.path and not theirs:
            theirs.append(writer.commit({"b": b"theirs"}))
        return None

    proxy.rule = rule
    ended = cube.upload()
    assert (ended.code, ended.last["reason"], [at(writer)]) == (5, "NonFastForward", theirs)


def test_branch_that_is_protected(cube: Cube, trained: Author, writer: Author) -> None:
    commit(trained, {"a": b"2"})
    hook = writer.bare / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'main is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (5, "Refused")
    assert "pre-receive hook declined" in ended.last["message"]


def test_detached_head(cube: Cube, trained: Author) -> None:
    trained.git("checkout", "-q", "--detach")
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (5, "DetachedHead")


def test_nothing_committed(cube: Cube) -> None:
    cube.clone.mkdir(parents=True)
    cube.git("init", "-q", "-b", "main")
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (5, "NothingCommitted")


def test_no_repository(cube: Cube) -> None:
    (cube.claim / "data").mkdir()
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (4, "NotFound")
    cube.clone.mkdir()
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (5, "NotARepository")


def test_first_commits_of_an_empty_repository(cube: Cube, writer: Author, tmp_path: Path) -> None:
    cube.clone.mkdir(parents=True)
    cube.git("init", "-q", "-b", "main")
    new = commit(Author(cube.clone, writer.forge), {"a": b"1"})
    ended = cube.upload()
    assert (ended.code, at(writer)) == (0, new), ended.output


def test_source_that_is_mounted_read_only_keeps_no_state(cube: Cube, trained: Author) -> None:
    new = commit(trained, {"a": b"2"})
    shutil.rmtree(cube.claim / ".stowplan")
    other = Cube(cube.folder, cube.url, {"state": None})
    assert other.upload(run="run").code == 0
    assert (at(trained), {path.name for path in cube.claim.iterdir()}) == (new, {"data"})


def test_clone_without_all_of_its_history(cube: Cube, writer: Author) -> None:
    for number in range(3):
        writer.commit({"a": b"%d" % number})
    assert cube.download(depth=1).code == 0
    new = commit(Author(cube.clone, writer.forge), {"a": b"9"})
    ended = cube.upload()
    assert (ended.code, at(writer)) == (0, new), ended.output


def test_configuration_of_the_claim_has_no_say(cube: Cube, trained: Author, tmp_path: Path) -> None:
    """Whoever may write to the claim can neither start programs in the agent nor lead its password away."""
    new = commit(trained, {"a": b"2", ".gitattributes": b"a filter=evil\n"})
    proof = tmp_path / "proof"
    evil = f"touch {proof}"
    trained.git("config", "core.fsmonitor", evil)
    trained.git("config", "filter.evil.clean", evil)
    trained.git("config", "credential.helper", f"!{evil}")
    trained.git("config", "core.sshCommand", evil)
    trained.git("config", "http.proxy", "http://127.0.0.1:1")
    trained.git("config", "url.http://127.0.0.1:1/.insteadOf", cube.url.partition("model")[0])
    hook = cube.clone / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{evil}\n")
    hook.chmod(0o755)
    (cube.clone / "a").write_bytes(b"3")
    ended = cube.upload()
    assert (ended.code, at(trained), proof.exists()) == (0, new, False), ended.output
