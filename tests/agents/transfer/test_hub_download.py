"""From a repository of a Hub to a directory."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.agents.transfer.agent import files
from tests.agents.transfer.faults import Fault, Proxy, Request, once_each
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.hub_base import TOKEN
from tests.agents.transfer.reports import Reports
from tests.agents.transfer.test_download import large

ODD = "näme with [1] 100%+#?.txt"
FILES = {"a.txt": b"a", "deep/er/b.bin": b"b" * 70_000, "deep-er": b"", ODD: b"x", "large.bin": large()}
"""One of them in parts."""


@pytest.fixture
def filled(repo: HubCube) -> HubCube:
    repo.hub.store.put(repo.repository, FILES)
    return repo


def there(cube: HubCube) -> dict[str, bytes]:
    """Files of the destination but the one that every repository begins with."""
    return {key: data for key, data in files(cube.data).items() if key != ".gitattributes"}


def contents(proxy: Proxy) -> list[Request]:
    return [each for each in proxy.requests if "/resolve/" in each.path]


def test_everything_comes_and_the_commit_is_told(filled: HubCube, storage_proxy: Proxy) -> None:
    ended = filled.download(run="run")
    assert ended.code == 0, ended.output
    assert there(filled) == FILES
    commit = filled.repository.refs["main"]
    assert any(each.get("commit") == commit for each in ended.events)
    assert sum(each.range is not None for each in storage_proxy.requests) == len(FILES["large.bin"]) // (5 << 20) + 1
    assert filled.hub.leaks == []


@pytest.mark.parametrize("kind", ["dataset", "space"])
def test_other_kinds_of_repositories(filled: HubCube, kind: str) -> None:
    other = filled.hub.store.make(filled.repository.name, kind, private=True, readers={TOKEN})
    filled.hub.store.put(other, {"rows.parquet": b"rows", "a": b"a"})
    ended = filled.download(repoType=kind)
    assert ended.code == 0, ended.output
    assert there(filled) == {"rows.parquet": b"rows", "a": b"a"}


def test_run_that_was_done_still_tells_what_it_brought(filled: HubCube, reports: Reports) -> None:
    cube = filled.with_options(environment=reports.environment)
    for sides in ((cube.remote(), cube.local()), (cube.local(), cube.remote())):
        for _ in range(2):
            with cube.started(*sides, run=sides[0]["type"], more=(reports.argument,)) as process:
                output, _ = process.communicate(timeout=60)
            assert process.returncode == 0, output
            assert reports.status["revision"] == filled.repository.refs["main"]
        assert "complete before" in output


def test_nothing_is_fetched_again(filled: HubCube, hub_proxy: Proxy) -> None:
    assert filled.download(run="first").code == 0
    before = len(contents(hub_proxy))
    ended = filled.download(run="second")
    assert (ended.code, ended.last["filesUnchanged"]) == (0, len(FILES) + 1)
    assert len(contents(hub_proxy)) == before


def test_run_that_is_done_does_nothing(filled: HubCube, hub_proxy: Proxy) -> None:
    assert filled.download(run="run").code == 0
    before = len(hub_proxy.requests)
    assert filled.download(run="run").code == 0
    assert len(hub_proxy.requests) == before


def test_what_is_there_without_our_doing_is_not_fetched(filled: HubCube, hub_proxy: Proxy) -> None:
    """The state was lost, or another program brought the files: their content tells."""
    filled.write(FILES)
    ended = filled.download()
    assert (ended.code, ended.last["filesUnchanged"]) == (0, len(FILES))
    assert [each.path.rpartition("/")[2] for each in contents(hub_proxy)] == [".gitattributes"]


def test_what_may_not_be_durable_is_looked_at(filled: HubCube, hub_proxy: Proxy) -> None:
    """As after a crash of the node in the middle of a run, which left a file of zeros."""
    assert filled.download().code == 0
    known = filled.state / "files.jsonl"
    header, *lines = known.read_text().splitlines(keepends=True)
    known.write_text(json.dumps({**json.loads(header), "boot": "another", "durable": False}) + "\n" + "".join(lines))
    path = filled.data / "large.bin"
    status = path.stat()
    path.write_bytes(bytes(status.st_size))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    before = len(contents(hub_proxy))
    assert filled.download().code == 0
    assert there(filled) == FILES
    assert {each.path.rpartition("/")[2] for each in contents(hub_proxy)[before:]} == {"large.bin"}


def test_only_what_a_new_commit_changed_is_fetched(filled: HubCube, hub_proxy: Proxy) -> None:
    assert filled.download().code == 0
    filled.hub.store.put(filled.repository, {"a.txt": b"A", "new": b"n"}, gone=["deep-er"])
    before = len(contents(hub_proxy))
    ended = filled.download()
    assert ended.code == 0, ended.output
    assert there(filled) == {**FILES, "a.txt": b"A", "new": b"n"}, "copies delete nothing"
    assert {each.path.rpartition("/")[2] for each in contents(hub_proxy)[before:]} == {"a.txt", "new"}


@pytest.mark.parametrize("change", [b"c", b"other size"])
def test_what_the_user_has_changed_is_the_commit_again(filled: HubCube, change: bytes) -> None:
    assert filled.download().code == 0
    (filled.data / "a.txt").write_bytes(change)
    (filled.data / "mine.txt").write_bytes(b"mine")
    ended = filled.download()
    assert (ended.code, there(filled)) == (0, {**FILES, "mine.txt": b"mine"})
    assert any("replaced" in each["message"] and each["count"] == 1 for each in ended.events)


def test_revision_is_pinned_at_the_start(filled: HubCube, hub_proxy: Proxy) -> None:
    """Somebody pushes to the branch in the middle of the run."""
    commit = filled.repository.refs["main"]
    pushed: list[str] = []

    def push(request: Request) -> Fault | None:
        if "/tree/" in request.path and not pushed:
            pushed.append(filled.hub.store.put(filled.repository, dict.fromkeys(FILES, b"new")))
        return None

    hub_proxy.rule = push
    ended = filled.download()
    assert ended.code == 0, ended.output
    assert there(filled) == FILES
    assert all(commit in each.path for each in contents(hub_proxy))


def test_revision_that_is_asked_for(filled: HubCube) -> None:
    old = filled.repository.refs["main"]
    filled.hub.store.put(filled.repository, {"a.txt": b"branch"}, branch="refs/pr/1")
    filled.hub.store.put(filled.repository, {"a.txt": b"newer"})
    for revision, content in (("refs/pr/1", b"branch"), ("main", b"newer"), (old, b"a")):
        cube = filled.with_options(environment={"REVISION": revision})
        ended = cube.download(revisionEnv="REVISION", files=["a.txt"])
        assert ended.code == 0, ended.output
        assert there(filled)["a.txt"] == content


def test_listed_files_are_names_and_no_patterns(filled: HubCube) -> None:
    filled.hub.store.put(filled.repository, {"näme with 1 100%+#?.txt": b"would match as a pattern"})
    ended = filled.download(files=[ODD, "deep/er/b.bin"])
    assert ended.code == 0, ended.output
    assert files(filled.data) == {key: FILES[key] for key in (ODD, "deep/er/b.bin")}


def test_all_missing_files_are_named(filled: HubCube) -> None:
    ended = filled.download(files=["a.txt", "no.bin", "deep/er"])
    assert (ended.code, ended.last["reason"]) == (4, "FilesMissing")
    assert "'deep/er', 'no.bin'" in ended.last["message"]
    assert not filled.data.exists()


def test_patterns(filled: HubCube) -> None:
    ended = filled.download(include=["*.bin"], exclude=["large*"])
    assert ended.code == 0, ended.output
    assert set(files(filled.data)) == {"deep/er/b.bin"}


def test_listing_of_many_pages(repo: HubCube) -> None:
    repo.hub.page = 7
    names = {f"{number // 10}/{number:03}": b"x" for number in range(50)}
    repo.hub.store.put(repo.repository, names)
    ended = repo.download()
    assert ended.code == 0, ended.output
    assert there(repo) == names


def test_unsafe_paths_are_refused_before_anything_is_written(repo: HubCube) -> None:
    unsafe = ["../out", "/abs", "a//b", "back\\slash", "bell\x07", "x" * 256, ".stowplan/x"]
    repo.hub.store.put(repo.repository, {"a": b"a", **dict.fromkeys(unsafe, b"x")})
    ended = repo.download()
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeKeys")
    assert files(repo.data) == {}
    assert not (repo.claim / "out").exists()
    for key in unsafe:
        assert repr(key) in ended.last["message"], key


def test_links_in_the_destination_are_not_followed(filled: HubCube, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_bytes(b"stays")
    filled.data.mkdir()
    (filled.data / "a.txt").symlink_to(outside / "a.txt")
    assert filled.download().code == 0
    assert (outside / "a.txt").read_bytes() == b"stays"
    assert there(filled) == FILES
    (filled.data / "deep" / "er" / "b.bin").unlink()
    (filled.data / "deep" / "er").rmdir()
    (filled.data / "deep" / "er").symlink_to(outside)
    ended = filled.download()
    assert ended.code == 5, ended.output
    assert sorted(path.name for path in outside.iterdir()) == ["a.txt"]


def test_claim_that_is_too_small(repo: HubCube) -> None:
    """By what the listing says."""
    repo.hub.store.put(repo.repository, {"a.bin": b"a"})
    entries = repo.repository.files()
    entries["a.bin"] = type(entries["a.bin"])(1 << 60, "0" * 40, entries["a.bin"].sha256, lfs=True)
    ended = repo.download()
    assert (ended.code, ended.last["reason"]) == (5, "NoSpace")
    assert "bytes are to be fetched, but the claim has space for" in ended.last["message"]
    assert files(repo.data) == {}


@pytest.mark.parametrize("fault", [Fault(cut_after=1000), Fault(truncate_to=50), Fault(flip=True)])
def test_what_comes_wrong_comes_again(filled: HubCube, storage_proxy: Proxy, fault: Fault) -> None:
    storage_proxy.rule = once_each(fault, lambda _: True)
    ended = filled.download()
    if fault.flip:
        # A part has no digest of its own, so the whole file begins anew, in the next attempt.
        assert (ended.code, ended.last["reason"]) == (11, "WrongDigest")
        assert not (filled.data / "large.bin").exists()
        ended = filled.download()
    assert ended.code == 0, ended.output
    assert there(filled) == FILES


def test_server_that_is_overloaded_for_a_moment(filled: HubCube, hub_proxy: Proxy, storage_proxy: Proxy) -> None:
    hub_proxy.rule = once_each(Fault(429, headers={"Retry-After": "1"}), lambda _: True)
    storage_proxy.rule = once_each(Fault(503), lambda _: True)
    ended = filled.with_options(requestRetries=5).download()
    assert ended.code == 0, ended.output
    assert there(filled) == FILES
    assert sum("Trying a request again" in each["message"] for each in ended.events) >= 2


def test_signed_url_that_has_ended_is_asked_for_again(filled: HubCube, storage_proxy: Proxy) -> None:
    seen: list[str] = []

    def rule(request: Request) -> Fault | None:
        seen.append(request.path)
        return Fault(403, b"expired") if len(seen) == 3 else None

    storage_proxy.rule = rule
    ended = filled.download()
    assert ended.code == 0, ended.output
    assert there(filled) == FILES


def test_hub_that_is_away_may_come_back(filled: HubCube, hub_proxy: Proxy) -> None:
    hub_proxy.rule = lambda _: Fault(503)
    ended = filled.with_options(requestRetries=1).download()
    assert (ended.code, ended.last["reason"]) == (10, "Throttled")
    assert not filled.data.exists()


def test_history_that_is_rewritten_meanwhile(filled: HubCube, hub_proxy: Proxy) -> None:
    """The commit is gone with all its files; another attempt finds a new one."""

    def gone(request: Request) -> Fault | None:
        return Fault(404, b"{}", {"X-Error-Code": "RevisionNotFound"}) if "/resolve/" in request.path else None

    hub_proxy.rule = gone
    ended = filled.download(run="run")
    assert (ended.code, ended.last["reason"]) == (10, "ObjectGone")
    hub_proxy.rule = None
    assert filled.download(run="run").code == 0
    assert there(filled) == FILES


@pytest.mark.parametrize("upload", [False, True], ids=["download", "upload"])
def test_speed_is_limited(repo: HubCube, *, upload: bool) -> None:
    slow = repo.with_options(maxBytesPerSecond=len(FILES["large.bin"]) // 3)
    if upload:
        slow.write({"large.bin": FILES["large.bin"]})
    else:
        repo.hub.store.put(repo.repository, {"large.bin": FILES["large.bin"]})
    began = time.monotonic()
    ended = slow.upload() if upload else slow.download()
    assert ended.code == 0, ended.output
    assert time.monotonic() - began >= 2.0
