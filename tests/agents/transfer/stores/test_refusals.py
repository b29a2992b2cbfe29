"""Refusals that a later attempt may not get, and refusals that nothing cures."""

import pytest

from stowplan.agents.attempt.failure import AttemptError
from tests.agents.transfer.agent import Cube, files
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import Answer, Request, Rule, Server


def error(code: str, message: str = "no") -> bytes:
    return f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()


def download(cube: Cube, key: str = "", **fields: object) -> AttemptError:
    done = attempt(cube, cube.remote(key, **fields), cube.local())
    assert isinstance(done, AttemptError), done
    return done


@pytest.mark.parametrize("status", [400, 403])
@pytest.mark.parametrize("code", ["ExpiredToken", "TokenRefreshRequired", "SecurityTokenExpired"])
def test_a_renewed_secret_serves_the_next_attempt(server: Server, cube: Cube, code: str, status: int) -> None:
    """The session token expires in the middle of a copy: nothing else is asked for with it."""
    server.objects = {f"{number:03}": b"x" for number in range(100)}
    server.rule = lambda request: Answer(status, error(code)) if request.key >= "010" else None
    failure = download(cube)
    assert (failure.code, failure.reason) == (10, "ExpiredCredentials")
    assert "renew" in str(failure)
    assert "`session-token`" in str(failure)
    assert sum(request.key >= "010" for request in server.requests) <= 8, "went on with a token that has expired"


def test_a_clock_that_is_wrong_is_told_with_both_times(server: Server, cube: Cube) -> None:
    now = {"date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    server.rule = lambda _: Answer(403, error("RequestTimeTooSkewed"), now)
    failure = download(cube)
    assert (failure.code, failure.reason) == (10, "ClockSkew")
    assert now["date"] in str(failure)
    assert len(server.requests) == 1


def test_a_head_without_a_reason_is_explained_by_a_get(server: Server, cube: Cube) -> None:
    """Amazon answers a HEAD with 400 if the token has expired; an answer to HEAD has no body."""
    server.rule = lambda _: Answer(400, error("ExpiredToken"))
    failure = download(cube, "a", kind="file")
    assert (failure.code, failure.reason) == (10, "ExpiredCredentials")


def test_a_head_that_nothing_explains_names_the_likely_causes(server: Server, cube: Cube) -> None:
    server.rule = lambda _: Answer(400)
    failure = download(cube, "a", kind="file")
    assert failure.code == 10
    for word in ("HEAD bucket/a: 400", "us-east-1", "pathStyle", "clock", "SSE-C"):
        assert word in str(failure), word


def test_a_head_that_names_the_region(server: Server, cube: Cube) -> None:
    server.rule = lambda _: Answer(400, headers={"x-amz-bucket-region": "eu-west-3"})
    failure = download(cube, "a", kind="file")
    assert (failure.code, failure.reason) == (2, "WrongRegion")
    assert "eu-west-3" in str(failure)


def test_a_store_that_does_not_know_a_request_is_not_asked_again(server: Server, cube: Cube) -> None:
    server.rule = lambda _: Answer(501, error("NotImplemented"))
    retrying = Cube(cube.folder, cube.storage, options={"requestRetries": 3})
    assert download(retrying).code == 2
    assert len(server.requests) <= 2


@pytest.mark.parametrize("size", [3, 12 << 20], ids=["small", "in parts"])
def test_a_directory_where_a_file_must_be(server: Server, cube: Cube, size: int) -> None:
    """The claim is as a person has to mend it: no request is sent again, and no attempt may help."""
    server.objects = {"a": b"x" * size}
    (cube.data / "a" / "b").mkdir(parents=True)
    (cube.data / "a" / "own").touch()
    failure = download(cube)
    assert (failure.code, failure.reason) == (5, "IsADirectory")
    assert "/a is a folder with files" in str(failure)
    asked: list[Request] = [request for request in server.requests if request.key == "a" and request.method == "GET"]
    assert len({request.headers.get("range") for request in asked}) == len(asked)


def test_a_file_where_a_directory_must_be(server: Server, cube: Cube) -> None:
    server.objects = {"a/b": b"x"}
    cube.data.mkdir()
    (cube.data / "a").write_bytes(b"a")
    failure = download(cube)
    assert (failure.code, failure.reason) == (5, "NotADirectory")
    assert files(cube.data) == {"a": b"a"}


def test_a_failure_names_the_proxy(server: Server, cube: Cube, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is a proxy too: it gets the whole URL, and refuses it by itself."""
    host = server.url.partition("://")[2]
    monkeypatch.setenv("http_proxy", f"http://me:pr0xy-p4ss@{host}")
    server.rule = lambda _: Answer(403, b"<html>Not by this proxy</html>")
    behind = Cube(cube.folder, cube.storage, "http://s3.example.com", options=cube.options)
    failure = download(behind)
    assert f"through the proxy {host}: 403" in str(failure)
    assert "pr0xy" not in str(failure)
    monkeypatch.setenv("http_proxy", "http://me:pr0xy-p4ss@127.0.0.1:1")
    failure = download(behind)
    assert (failure.code, failure.reason) == (10, "RequestFailed")
    assert "through the proxy 127.0.0.1:1: " in str(failure)
    assert "pr0xy" not in str(failure)


SAME = '"0123-4567"'


def quoted_is_refused(server: Server) -> Rule:
    """DigitalOcean Spaces: 412 to the ETag in quotes that it gives itself (slatedb #1818)."""

    def rule(request: Request) -> Answer | None:
        wanted = request.headers.get("if-match")
        return Answer(412) if request.key and wanted not in (None, server.etag(request.key).strip('"')) else None

    return rule


def test_a_store_that_refuses_the_etag_that_it_gives(server: Server, cube: Cube) -> None:
    server.objects = {"a": b"a", "b": b"b", "large": bytes(12 << 20)}
    server.etags = {"large": SAME}
    server.rule = quoted_is_refused(server)
    assert isinstance(attempt(cube, cube.remote(), cube.local()), str)
    assert files(cube.data) == server.objects
    assert sum("if-match" in request.headers for request in server.requests) < 8, "asked so again and again"


def test_an_object_that_changes_at_such_a_store(server: Server, cube: Cube) -> None:
    """Without the condition the ETag of the answer tells, so that no file has parts of two versions."""
    server.objects = {"a": b"a", "large": bytes(12 << 20)}
    new = b"1" * (12 << 20)
    refuse = quoted_is_refused(server)

    def rule(request: Request) -> Answer | None:
        if request.headers.get("range", "").startswith("bytes=5242880"):
            server.objects["large"] = new
        return refuse(request)

    server.rule = rule
    assert isinstance(attempt(cube, cube.remote(), cube.local()), str)
    assert files(cube.data) == {"a": b"a", "large": new}
