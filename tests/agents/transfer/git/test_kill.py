"""Transfers that are killed repeatedly at any moment, and then finish."""

import hashlib
import os
import random
from pathlib import Path

import pytest

from tests.agents.kills import Kills
from tests.agents.transfer.faults import Fault, Proxy
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author
from tests.agents.transfer.git.server import Forge
from tests.agents.waiting import GRACE_SECONDS, until
from tests.tier import KILLS

ATTRIBUTES = {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n"}


def changed(chance: random.Random) -> dict[str, bytes]:
    """Some files in Git, and some in Git LFS."""
    small = {f"small/{number}": chance.randbytes(chance.randrange(4000)) for number in chance.sample(range(30), 8)}
    return small | {f"{number}.big": chance.randbytes(150_000) for number in chance.sample(range(5), 2)}


def kill_at_random(cube: Cube, kills: Kills, number: int, *, upload: bool) -> None:
    """SIGKILL of the agent alone, as the kernel does it for want of memory."""
    with cube.started(upload=upload, run=f"run-{number}") as process:
        kills.strike(process)


def sound(cube: Cube) -> None:
    assert cube.git("fsck", "--connectivity-only", "--no-dangling") in ("", "notice: HEAD points to an unborn branch")


def test_download_survives_kills(cube: Cube, writer: Author) -> None:
    chance = random.Random(7)  # noqa: S311 - content of a test
    trees: list[dict[str, bytes]] = []
    now, kills = dict(ATTRIBUTES), Kills(KILLS)
    for number in kills:
        if number % 3 == 0:
            fresh = changed(chance)
            big = {name: data for name, data in fresh.items() if name.endswith(".big")}
            writer.commit({**ATTRIBUTES, **fresh, **writer.lfs(big)})
            now = {**now, **fresh}
            trees.append(now)
        if number == KILLS // 3 and not cube.clone.exists():
            assert cube.download().code == 0
        kill_at_random(cube, kills, number, upload=False)
        if not cube.clone.exists():
            continue
        for name, data in tree(cube.clone).items():
            kept = [each[name] for each in trees if name in each]
            # Git writes files in place: one that a kill has cut is finished by the next attempt.
            assert any(one.startswith(data) for one in kept), name
    ended = cube.download(run="last")
    assert ended.code == 0, ended.output
    assert (tree(cube.clone), cube.head) == (now, writer.head)
    sound(cube)
    assert cube.git("status", "--porcelain") == ""
    assert not [path for path in cube.claim.rglob("*") if path.name.endswith(".lock") or "tmp_" in path.name]


def test_upload_survives_kills(cube: Cube, writer: Author, forge: Forge) -> None:
    chance = random.Random(8)  # noqa: S311 - content of a test
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    clone, kills = Author(cube.clone, forge), Kills(KILLS)
    clone.git("lfs", "install", "--local", "--skip-repo")
    commits = [clone.head]
    ever: dict[str, bytes] = {}
    for number in kills:
        if number % 2 == 0:
            fresh = {**ATTRIBUTES, **changed(chance)}
            for name, data in fresh.items():
                (cube.clone / name).parent.mkdir(exist_ok=True)
                (cube.clone / name).write_bytes(data)
            clone.git("add", "--all")
            clone.git("commit", "-q", "-m", str(number))
            commits.append(clone.head)
            ever |= {hashlib.sha256(data).hexdigest(): data for name, data in fresh.items() if name.endswith(".big")}
        kill_at_random(cube, kills, number, upload=True)
        there = clone.git("--git-dir", str(clone.bare), "rev-parse", "main")
        assert there in commits
        for path in forge.objects().iterdir():
            assert len(path.name) != 64 or path.read_bytes() == ever[path.name]
    ended = cube.upload(run="last")
    assert ended.code == 0, ended.output
    assert clone.git("--git-dir", str(clone.bare), "rev-parse", "main") == clone.head
    assert {path.name for path in forge.objects().iterdir() if len(path.name) == 64} == set(ever)
    assert clone.git("--git-dir", str(clone.bare), "fsck", "--no-dangling") == ""
    assert clone.git("status", "--porcelain") == ""


def test_objects_of_lfs_that_are_there_are_not_fetched_again(cube: Cube, writer: Author, proxy: Proxy) -> None:
    data = {f"{number}.big": bytes([number]) * 300_000 for number in range(8)}
    writer.commit({**ATTRIBUTES, **writer.lfs(data)})
    begun: set[str] = set()

    def half(request: object) -> Fault | None:
        if "/info/lfs/" not in getattr(request, "path", "") or getattr(request, "method", "") != "GET":
            return None
        begun.add(getattr(request, "path", ""))
        return Fault(seconds=60) if len(begun) > 4 else None

    proxy.rule = half
    with cube.started(run="run") as process:
        until(lambda: len(objects(cube)) >= 4)
        process.kill()
    before, proxy.rule = len(proxy.requests), None
    ended = cube.download(run="run")
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == {**ATTRIBUTES, **data}
    again = [each for each in proxy.requests[before:] if each.method == "GET" and "/info/lfs/" in each.path]
    assert len(again) == 8 - 4
    fetched = [each for each in proxy.requests[before:] if each.path.endswith("/git-upload-pack")]
    assert len(fetched) == 1, "what Git has is not fetched again either: only the branches were asked for"


def test_what_was_begun_of_objects_does_not_fill_the_claim(cube: Cube, writer: Author, proxy: Proxy) -> None:
    writer.commit({**ATTRIBUTES, **writer.lfs({"1.big": b"1" * 300_000})})
    cut = Fault(cut_after=150_000, stall=60)
    proxy.rule = lambda request: cut if request.method == "GET" and "/info/lfs/" in request.path else None
    with cube.started(run="run") as process:
        until(lambda: any(path.stat().st_size for path in cube.hidden.glob(".git/lfs/incomplete/*")))
        process.kill()
    proxy.rule = None
    assert cube.download(run="run").code == 0
    assert list(cube.clone.glob(".git/lfs/incomplete/*")) == []


def objects(cube: Cube) -> list[Path]:
    return [path for path in cube.hidden.glob(".git/lfs/objects/*/*/*") if path.is_file()]


def test_checkout_that_was_cut_is_finished(cube: Cube, writer: Author) -> None:
    """As SIGKILL leaves it: some files are new, one is half written, the index and HEAD are old."""
    writer.commit({"a": b"1", "b": b"1" * 50, "c": b"1"})
    assert cube.download().code == 0
    old = cube.head
    new = writer.commit({"a": b"2", "b": b"2" * 50, "d": b"2"})
    cube.git("fetch", "-q", str(writer.bare), "main")
    (cube.clone / ".git/stowplan-checkout").write_text(f"{old} {new}\n")
    (cube.clone / ".git/index.lock").touch()
    (cube.clone / "a").write_bytes(b"2")
    (cube.clone / "b").write_bytes(b"2" * 10)
    (cube.clone / "d").write_bytes(b"")
    last = writer.commit({"e": b"3"})
    ended = cube.download()
    assert (ended.code, cube.head) == (0, last), ended.output
    assert tree(cube.clone) == {"a": b"2", "b": b"2" * 50, "c": b"1", "d": b"2", "e": b"3"}


def test_edit_after_a_checkout_that_was_cut_is_not_lost(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1", "c": b"1"})
    assert cube.download().code == 0
    old = cube.head
    new = writer.commit({"a": b"2"})
    cube.git("fetch", "-q", str(writer.bare), "main")
    (cube.clone / ".git/stowplan-checkout").write_text(f"{old} {new}\n")
    (cube.clone / "c").write_bytes(b"mine")
    ended = cube.download()
    assert (ended.code, ended.last["reason"], (cube.clone / "c").read_bytes()) == (5, "Dirty", b"mine")


@pytest.mark.parametrize("what", ["git-upload-pack", "/info/lfs/"])
def test_sigterm_ends_all_of_its_programs(cube: Cube, writer: Author, proxy: Proxy, what: str) -> None:
    writer.commit({**ATTRIBUTES, **writer.lfs({"1.big": b"1" * 1000})})
    proxy.rule = lambda request: Fault(seconds=60) if what in request.path and request.method == "POST" else None
    with cube.started(run="run") as process:
        until(lambda: [each for each in proxy.requests if what in each.path and each.method == "POST"])
        # The agent itself speaks with the server of Git LFS.
        assert programs(cube) or what != "git-upload-pack"
        process.terminate()
        output, _ = process.communicate(timeout=GRACE_SECONDS)
    assert process.returncode == 143, output
    until(lambda: not programs(cube), 30)
    proxy.rule = None
    assert cube.download(run="run").code == 0


def programs(cube: Cube) -> list[str]:
    """Command lines of processes that work in the claim, or for it."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            variables = (path / "environ").read_bytes()
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if b"GIT_CONFIG_COUNT=" in variables and os.fsencode(cube.url) in (path / "cmdline").read_bytes() + variables:
            found.append(line)
    return found


def test_programs_end_with_an_agent_that_is_killed(cube: Cube, writer: Author, proxy: Proxy) -> None:
    writer.commit({**ATTRIBUTES, **writer.lfs({"1.big": b"1" * 1000})})
    proxy.rule = lambda request: Fault(seconds=60) if request.method == "POST" else None
    with cube.started(run="run") as process:
        until(lambda: proxy.count("POST", "git-upload-pack"))
        assert programs(cube)
        process.kill()
        process.communicate()
    until(lambda: not programs(cube), 30)
