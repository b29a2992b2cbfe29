"""From a directory to a repository of a Hub."""

import os
from pathlib import Path

import pytest

from tests.agents.transfer.faults import Fault, Proxy, Request, once_each
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.hub_base import TOKEN
from tests.agents.transfer.test_download import large
from tests.agents.transfer.test_hub_download import ODD
from tests.agents.transfer.test_upload import below

FILES = {"a.txt": b"a", "deep/er/b.bin": b"b" * 70_000, "deep-er": b"", ODD: b"x", "large.bin": large()}
"""One of them goes to the storage in parts, and one in one piece."""


@pytest.fixture
def filled(repo: HubCube) -> HubCube:
    repo.write(FILES)
    return repo


def read(cube: HubCube) -> dict[str, bytes]:
    return cube.hub.store.read(cube.repository)


def messages(cube: HubCube) -> list[str]:
    """Of all commits but the first one."""
    return cube.repository.messages[1:]


@pytest.mark.parametrize("multipart", [True, False])
def test_files_go_into_one_commit(filled: HubCube, storage_proxy: Proxy, *, multipart: bool) -> None:
    filled.hub.multipart = multipart
    cube = filled.with_options(environment={"COMMIT_MESSAGE": "Weights of today", "PATH_IN_REPO": "to/here"})
    ended = cube.upload(run="run", commitMessageEnv="COMMIT_MESSAGE", pathInRepoEnv="PATH_IN_REPO")
    assert ended.code == 0, ended.output
    assert read(filled) == below("to/here/", FILES)
    assert messages(filled) == ["Weights of today"]
    assert any(each.get("commit") == filled.repository.refs["main"] for each in ended.events)
    assert storage_proxy.count("PUT", "/part/") == (3 if multipart else 0)
    assert filled.hub.leaks == []


@pytest.mark.parametrize(("path", "prefix"), [("./", ""), ("/x/", "x/")])
def test_path_in_repo(filled: HubCube, path: str, prefix: str) -> None:
    filled.hub.store.put(filled.repository, {"other": b"stays"})
    ended = filled.with_options(environment={"PATH_IN_REPO": path}).upload(pathInRepoEnv="PATH_IN_REPO")
    assert ended.code == 0, ended.output
    assert read(filled) == {"other": b"stays", **below(prefix, FILES)}


@pytest.mark.parametrize("path", ["../x", "a//b"])
def test_path_in_repo_that_can_be_none(filled: HubCube, path: str) -> None:
    ended = filled.with_options(environment={"PATH_IN_REPO": path}).upload(pathInRepoEnv="PATH_IN_REPO")
    assert (ended.code, messages(filled)) == (2, [])


def test_nothing_new_is_no_commit(filled: HubCube, hub_proxy: Proxy) -> None:
    assert filled.upload(run="first").code == 0
    before = len(hub_proxy.requests)
    ended = filled.upload(run="second")
    assert (ended.code, ended.last["filesUnchanged"]) == (0, len(FILES))
    assert {each.method for each in hub_proxy.requests[before:]} == {"GET"}
    assert len(messages(filled)) == 1
    before = len(hub_proxy.requests)
    assert filled.upload(run="second").code == 0
    assert len(hub_proxy.requests) == before


def test_only_what_changed_is_sent(filled: HubCube, storage_proxy: Proxy) -> None:
    assert filled.upload().code == 0
    changed = {"a.txt": b"A", "large.bin": large(seed=9)}
    filled.write(changed)
    before = len(storage_proxy.requests)
    ended = filled.upload()
    assert (ended.code, ended.last["filesUnchanged"]) == (0, len(FILES) - 2)
    assert read(filled) == {**FILES, **changed}
    assert all("/part/" in each.path for each in storage_proxy.requests[before:])


def test_content_that_the_hub_has_under_another_name_is_not_sent(filled: HubCube, storage_proxy: Proxy) -> None:
    filled.hub.store.put(filled.repository, {"elsewhere.bin": FILES["large.bin"]})
    assert filled.upload().code == 0
    assert storage_proxy.count("PUT", "/part/") == 0
    assert read(filled)["large.bin"] == FILES["large.bin"]


@pytest.mark.parametrize(("path", "key"), [("folder/", "folder/large.bin"), ("as/x.bin", "as/x.bin")])
def test_one_file(filled: HubCube, path: str, key: str) -> None:
    cube = filled.with_options(environment={"PATH_IN_REPO": path})
    ended = cube.upload(path="data/large.bin", pathInRepoEnv="PATH_IN_REPO")
    assert ended.code == 0, ended.output
    assert read(filled) == {key: FILES["large.bin"]}
    assert cube.upload(path="data/large.bin", pathInRepoEnv="PATH_IN_REPO").last["filesUnchanged"] == 1


def test_what_is_no_data_is_left_out(filled: HubCube, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (filled.data / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(filled.data / "pipe")
    others = [".git/config", "sub/.git/config", ".cache/huggingface/x"]
    filled.write(dict.fromkeys(others, b"x"))
    assert filled.upload().last["reason"] == "Links"
    ended = filled.run({**filled.local(), "links": "skip"}, filled.remote())
    left = "left out: devices, sockets or pipes (1), links (1), names that the destination refuses (3)"
    assert ended.code == 0, ended.output
    assert ended.last["message"].startswith(f"The repository holds {len(FILES)} files of the source; {left}")
    assert read(filled) == FILES


def test_cache_of_hugging_face(repo: HubCube) -> None:
    repo.write({"models--a--b/blobs/0123": b"weights"})
    folder = repo.data / "models--a--b/snapshots/main"
    folder.mkdir(parents=True)
    (folder / "model.bin").symlink_to("../../blobs/0123")
    assert repo.upload().code == 0
    assert read(repo)["models--a--b/snapshots/main/model.bin"] == b"weights"


def test_gitignore_is_a_file_like_others(filled: HubCube) -> None:
    """The library leaves files out that it names, and says so to nobody."""
    filled.write({".gitignore": b"*.bin\na.txt\n"})
    assert filled.upload().code == 0
    assert read(filled) == {**FILES, ".gitignore": b"*.bin\na.txt\n"}
    filled.write({"new.bin": b"new"})
    assert filled.upload().code == 0
    assert read(filled)["new.bin"] == b"new"


def test_patterns(filled: HubCube) -> None:
    ended = filled.upload(include=["*.bin"], exclude=["large*"])
    assert ended.code == 0, ended.output
    assert set(read(filled)) == {"deep/er/b.bin"}


def test_names_that_can_be_no_paths_are_refused_before_anything_is_sent(filled: HubCube) -> None:
    Path(os.fsdecode(os.fsencode(filled.data) + b"/\xff\xfe")).touch()
    ended = filled.upload()
    assert (ended.code, ended.last["reason"], messages(filled)) == (5, "UnsafeKeys", [])


def test_nothing_there(filled: HubCube) -> None:
    ended = filled.upload(path="nowhere")
    assert (ended.code, ended.last["reason"]) == (4, "NotFound")


def test_more_than_fits_into_one_commit(filled: HubCube) -> None:
    """Small files travel in the request of the commit, which memory bounds."""
    many = {f"{number:03}.txt": bytes([number]) * 900_000 for number in range(30)}
    filled.write(many)
    ended = filled.with_options(memoryMiB=96, environment={"M": "Many"}).upload(commitMessageEnv="M")
    assert ended.code == 0, ended.output
    assert read(filled) == {**FILES, **many}
    assert messages(filled)[:2] == ["Many", "Many (part 2)"]


def test_repository_is_made_where_there_is_none(filled: HubCube) -> None:
    cube = filled.with_options(environment={"REPO": "tester/new"})
    ended = cube.upload()
    assert ended.code == 0, ended.output
    made = filled.hub.store.repositories["model", "tester/new"]
    assert made.private
    assert filled.hub.store.read(made) == FILES
    assert cube.upload().last["filesUnchanged"] == len(FILES)


def test_repository_that_the_token_may_not_see(filled: HubCube) -> None:
    filled.hub.store.make("tester/hidden", private=True)
    ended = filled.with_options(environment={"REPO": "tester/hidden"}).upload()
    assert (ended.code, "may not see it" in ended.last["message"]) == (3, True)


def test_branch(filled: HubCube) -> None:
    cube = filled.with_options(environment={"REVISION": "next"})
    ended = cube.upload(revisionEnv="REVISION")
    assert (ended.code, ended.last["reason"]) == (4, "RevisionNotFound")
    filled.hub.store.put(filled.repository, {}, branch="next")
    assert cube.upload(revisionEnv="REVISION").code == 0
    assert read(filled) == {}
    assert filled.hub.store.read(filled.repository, "next") == FILES


def test_others_commit_meanwhile(filled: HubCube, hub_proxy: Proxy) -> None:
    pushed: list[str] = []

    def push(request: Request) -> Fault | None:
        if request.path.endswith("/commit/main") and len(pushed) < 2:
            pushed.append(filled.hub.store.put(filled.repository, {"theirs": b"x" * len(pushed), "a.txt": b"theirs"}))
        return None

    hub_proxy.rule = push
    ended = filled.upload()
    assert ended.code == 0, ended.output
    assert read(filled) == {**FILES, "theirs": b"x"}
    assert sum("Others have committed" in each["message"] for each in ended.events) == 2
    assert ended.last["filesDone"] == ended.last["filesTotal"] == len(FILES)


def test_answer_to_a_commit_that_is_lost(filled: HubCube, hub_proxy: Proxy) -> None:
    """It was made all the same, and is not made twice."""
    hub_proxy.rule = once_each(Fault(cut_after=0), lambda request: request.path.endswith("/commit/main"))
    ended = filled.upload()
    assert ended.code == 0, ended.output
    assert (read(filled), len(messages(filled))) == (FILES, 1)


def test_server_that_is_overloaded_for_a_moment(filled: HubCube, hub_proxy: Proxy, storage_proxy: Proxy) -> None:
    hub_proxy.rule = once_each(Fault(429, headers={"Retry-After": "0"}), lambda _: True)
    storage_proxy.rule = once_each(Fault(503), lambda _: True)
    ended = filled.upload()
    assert ended.code == 0, ended.output
    assert read(filled) == FILES


def test_file_that_changes_meanwhile(filled: HubCube, storage_proxy: Proxy) -> None:
    changed: list[str] = []

    def change(request: Request) -> Fault | None:
        if not changed:
            changed.append(request.path)
            filled.write({"large.bin": large(seed=3)})
        return None

    storage_proxy.rule = change
    ended = filled.with_options(requestRetries=0).upload()
    assert (ended.code, messages(filled)) == (10, []), ended.output
    assert filled.upload().code == 0
    assert read(filled) == {**FILES, "large.bin": large(seed=3)}


def test_source_that_is_mounted_read_only_keeps_no_state(filled: HubCube) -> None:
    ended = filled.with_options(state=None).upload(run="run")
    assert ended.code == 0, ended.output
    assert {path.name for path in filled.claim.iterdir()} == {"data"}
    assert read(filled) == FILES


@pytest.mark.parametrize("rights", ["none", "read"])
def test_token_that_may_not_write(filled: HubCube, rights: str) -> None:
    filled.repository.writers.clear()
    remote = filled.remote(tokenEnv=None) if rights == "none" else filled.remote()
    ended = filled.run(filled.local(), remote)
    assert (ended.code, ended.last["reason"]) == (3, "AccessDenied"), ended.output
    assert (messages(filled), TOKEN in ended.output) == ([], False)


@pytest.mark.parametrize("card", [b"---\nlicense: none-such\n---\n", b"\xff\xfe"])
def test_card_that_the_hub_does_not_take(filled: HubCube, card: bytes) -> None:
    filled.write({"README.md": card})
    ended = filled.upload(run="run")
    assert (ended.code, ended.last["reason"], messages(filled)) == (5, "BadCard", []), ended.output
