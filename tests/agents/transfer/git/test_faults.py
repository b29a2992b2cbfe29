"""Servers that fail, hang, or change during a transfer."""

import pytest

from tests.agents.transfer.faults import Fault, Proxy, Request, Rule
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author
from tests.agents.transfer.git.server import TOKEN, USERNAME, Forge
from tests.agents.waiting import until

ATTRIBUTES = {".gitattributes": b"*.big filter=lfs\n"}
BIG = {f"{number}.big": bytes([number]) * 400_000 for number in range(4)}


def once_each(fault: Fault, method: str = "", part: str = "") -> Rule:
    """The first request of each kind has the fault, whichever part of a file it asks for."""
    seen: set[tuple[str, str]] = set()

    def rule(request: Request) -> Fault | None:
        name = (request.method, request.path)
        if name in seen or method not in request.method or part not in request.path:
            return None
        seen.add(name)
        return fault

    return rule


@pytest.fixture
def filled(cube: Cube, writer: Author) -> Cube:
    writer.commit({"a": b"a" * 5000, **ATTRIBUTES, **writer.lfs(BIG)})
    return Cube(cube.folder, cube.url, {"requestRetries": 4})


@pytest.mark.parametrize("fault", [Fault(status=503), Fault(cut_after=3), Fault(truncate_to=10)])
def test_each_request_fails_once(filled: Cube, proxy: Proxy, fault: Fault) -> None:
    proxy.rule = once_each(fault)
    ended = filled.download()
    assert ended.code == 0, ended.output
    assert tree(filled.clone) == {"a": b"a" * 5000, **ATTRIBUTES, **BIG}


@pytest.mark.parametrize("fault", [Fault(status=503), Fault(cut_after=3)])
def test_each_request_of_a_push_fails_once(filled: Cube, writer: Author, proxy: Proxy, fault: Fault) -> None:
    """Also the one whose answer is lost after the server has taken the branch."""
    assert filled.download().code == 0
    clone = Author(filled.clone, writer.forge)
    clone.git("lfs", "install", "--local", "--skip-repo")
    (filled.clone / "new.big").write_bytes(b"n" * 300_000)
    clone.git("add", "new.big")
    clone.git("commit", "-q", "-m", "New")
    proxy.rule = once_each(fault)
    ended = filled.upload()
    assert ended.code == 0, ended.output
    assert writer.git("--git-dir", str(writer.bare), "rev-parse", "main") == clone.head


def test_content_of_lfs_that_is_wrong(filled: Cube, proxy: Proxy) -> None:
    proxy.rule = once_each(Fault(flip=True), "GET", "/info/lfs/")
    ended = filled.download()
    assert (ended.code == 0 and tree(filled.clone)["1.big"] == BIG["1.big"]) or ended.code in (10, 11), ended.output
    proxy.rule = None
    assert filled.download().code == 0
    assert {name: tree(filled.clone)[name] for name in BIG} == BIG


def test_server_that_always_fails(filled: Cube, proxy: Proxy) -> None:
    proxy.rule = lambda _: Fault(status=502)
    ended = Cube(filled.folder, filled.url).download()
    assert (ended.code, ended.last["reason"]) == (10, "RequestFailed"), ended.output
    assert len(proxy.requests) == 2


def test_nobody_listens(filled: Cube) -> None:
    ended = Cube(filled.folder, "http://127.0.0.1:1/model.git").download()
    assert (ended.code, ended.last["reason"]) == (10, "RequestFailed"), ended.output


def test_repository_that_is_not_there(filled: Cube) -> None:
    ended = Cube(filled.folder, filled.url.replace("model", "other")).download()
    assert (ended.code, ended.last["reason"]) == (4, "NotFound"), ended.output


def test_wrong_token(filled: Cube, forge: Forge) -> None:
    forge.users = {USERNAME: "another"}
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (3, "AccessDenied"), ended.output


def test_token_that_expires_in_the_middle(filled: Cube, forge: Forge, proxy: Proxy) -> None:
    def rule(request: Request) -> Fault | None:
        if "/info/lfs/" in request.path:
            forge.users = {USERNAME: "renewed"}
        return None

    proxy.rule = rule
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (3, "AccessDenied"), ended.output
    proxy.rule, forge.users = None, {USERNAME: TOKEN}
    before = len(proxy.requests)
    assert filled.download().code == 0
    assert not [
        each for each in proxy.requests[before:] if each.path.endswith("upload-pack") and each.method == "POST"
    ][2:], "commits are not fetched again"


def test_branch_that_moves_in_the_middle(filled: Cube, writer: Author, proxy: Proxy) -> None:
    """Everything is of the commit that the branch named at the beginning."""
    first = writer.head
    moved: list[str] = []

    def rule(request: Request) -> Fault | None:
        if "/info/lfs/" in request.path and not moved:
            moved.append(writer.commit({"a": b"other"}))
        return None

    proxy.rule = rule
    ended = filled.download()
    assert (ended.code, filled.head) == (0, first), ended.output
    assert tree(filled.clone)["a"] == b"a" * 5000
    assert filled.download().code == 0
    assert [filled.head] == moved


def test_branch_that_is_written_anew_before_it_is_fetched(filled: Cube, writer: Author, proxy: Proxy) -> None:
    """And the commit that it named is gone from the server."""
    first = writer.head
    seen: list[str] = []

    def rule(request: Request) -> Fault | None:
        if request.method == "POST" and request.path.endswith("git-upload-pack"):
            seen.append(request.path)
            if len(seen) == 2:
                writer.git("commit", "-q", "--amend", "-m", "Other")
                writer.git("push", "-q", "--force", "origin", "HEAD")
                writer.git("--git-dir", str(writer.bare), "gc", "-q", "--prune=now")
        return None

    proxy.rule = rule
    ended = filled.download()
    assert ended.code == 0, ended.output
    assert filled.head == writer.head != first


def test_soft_deadline_keeps_what_is_there(filled: Cube, proxy: Proxy) -> None:
    proxy.rule = lambda request: Fault(seconds=60) if "/info/lfs/" in request.path and request.method == "GET" else None
    ended = Cube(filled.folder, filled.url, {"softDeadlineSeconds": 8}).download()
    assert (ended.code, ended.last["reason"]) == (12, "SoftDeadline"), ended.output
    assert not filled.clone.exists()
    proxy.rule = None
    ended = filled.download()
    assert "Goes on with a clone" in ended.output
    assert ended.code == 0


def test_second_writer_is_refused(filled: Cube, proxy: Proxy) -> None:
    proxy.rule = lambda _: Fault(seconds=60)
    with filled.started(run="first"):
        until(lambda: proxy.requests)
        ended = filled.download(run="second")
        assert (ended.code, ended.last["reason"]) == (5, "Locked")


def test_proxy_of_the_user(filled: Cube, proxy: Proxy) -> None:
    """Only the proxy knows the way to the host, for Git and for Git LFS."""
    cube = Cube(filled.folder, "http://git.test/model.git")
    for name in ("http_proxy", "HTTP_PROXY"):
        ended = cube.download(environment={name: proxy.url})
        assert ended.code == 0, ended.output
    assert {each.host for each in proxy.requests} == {"git.test"}
    assert tree(cube.clone)["1.big"] == BIG["1.big"]


def test_no_room_for_lfs(cube: Cube, writer: Author) -> None:
    enormous = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 9000000000000000\n"
    writer.commit({**ATTRIBUTES, "x.big": enormous})
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "NoSpace")
