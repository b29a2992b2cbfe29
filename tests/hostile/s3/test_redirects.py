"""No redirect of a store is followed, so no credential goes to another host."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.network import Network
from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.server import SECRET_KEY, Storage
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import BUCKET, Answer, Request, Server, page, serving
from tests.recorder import recording

SECRET = b"INTERNAL-SECRET-CREDENTIALS!"
KEY = '"zz"'
"""An ETag that is no digest, so that only the length is compared."""


@pytest.fixture
def metadata() -> Iterator[Server]:
    """A server that the transfer has nothing to do with."""
    with serving() as other:
        other.objects = {"latest": SECRET}
        other.rule = lambda _: Answer(body=SECRET, headers={"etag": KEY, "last-modified": "x"})
        yield other


def redirecting(server: Server, metadata: Server, status: int, size: int, *, listing: bool) -> None:
    """All requests that are listings, or all others, lead elsewhere."""
    server.objects = {"a": b"x" * size}
    server.etags = {"a": KEY}
    target = Answer(status, headers={"location": f"{metadata.url}/latest?sig=SIGNATURE"})
    server.rule = lambda request: target if request.is_listing == listing else None


@pytest.mark.parametrize(
    ("status", "size"), [*((status, len(SECRET)) for status in (301, 302, 303, 307, 308)), (307, 12 << 20)]
)
def test_objects(server: Server, metadata: Server, cube: Cube, status: int, size: int) -> None:
    redirecting(server, metadata, status, size, listing=False)
    done = cube.download()
    assert (done.code, done.last["reason"]) == (2, "WrongRegion"), done.output
    assert "127.0.0.1" in done.last["message"]
    assert "SIGNATURE" not in done.output
    assert (files(cube.data), metadata.requests) == ({}, [])


def test_listings(server: Server, metadata: Server, cube: Cube) -> None:
    redirecting(server, metadata, 307, 1, listing=True)
    assert cube.download().code == 2
    assert metadata.requests == []


@pytest.mark.parametrize("size", [10, 12 << 20])
def test_uploads(server: Server, metadata: Server, cube: Cube, size: int) -> None:
    cube.data.mkdir()
    (cube.data / "a").write_bytes(b"x" * size)
    target = Answer(307, headers={"location": f"{metadata.url}/take"})
    server.rule = lambda request: None if request.is_listing or request.method == "HEAD" else target
    assert cube.upload().code == 2
    assert metadata.requests == []


@pytest.mark.parametrize("status", [301, 307, 400])
def test_endpoint_of_another_region(server: Server, metadata: Server, cube: Cube, status: int) -> None:
    """S3 names the host of the right region in the body and in headers."""
    host = metadata.url.removeprefix("http://")
    body = f"<Error><Code>PermanentRedirect</Code><Endpoint>{host}</Endpoint><Region>{host}</Region></Error>"
    headers = {"x-amz-bucket-region": host, "location": f"{metadata.url}/bucket/a"}
    server.rule = lambda _: Answer(status, body.encode(), headers)
    assert cube.download().code
    (cube.data).mkdir(exist_ok=True)
    (cube.data / "a").write_bytes(b"x")
    assert cube.upload().code
    assert server.requests
    assert metadata.requests == []


def test_host_of_a_bucket_is_that_of_the_endpoint(tmp_path: Path) -> None:
    """A proxy sees the hosts that are asked: the bucket's label stands before the host of the endpoint."""
    with recording() as proxy:
        cube = Cube(tmp_path, Storage("http://s3.example.com", BUCKET), options={"requestRetries": 0})
        with cube.started(
            cube.remote(pathStyle=False, sessionTokenEnv="TOKEN"),
            cube.local(),
            environment={"TOKEN": "sessiontoken34", "http_proxy": proxy.url},
        ) as process:
            process.communicate(timeout=60)
        assert {each.split()[1].split("/")[2] for each in proxy.seen} == {f"{BUCKET}.s3.example.com"}
        assert proxy.heard("sessiontoken34", SECRET_KEY) == ["sessiontoken34"]


def test_session_tokens_go_nowhere_else(server: Server, metadata: Server, cube: Cube) -> None:
    redirecting(server, metadata, 307, len(SECRET), listing=False)
    with cube.started(
        cube.remote(sessionTokenEnv="TOKEN"), cube.local(), environment={"TOKEN": "sessiontoken34"}
    ) as process:
        process.communicate(timeout=60)
    assert any("x-amz-security-token" in request.headers for request in server.requests)
    assert metadata.requests == []


@pytest.mark.parametrize("host", ["localhost", "0", "127.1", "[::1]", "[::ffff:7f00:1]"])
def test_endpoint_that_is_the_pod_itself(server: Server, cube: Cube, host: str) -> None:
    named = replace(cube, endpoint=server.url.replace("127.0.0.1", host))
    done = attempt(named, named.remote(), named.local(), network=Network())
    assert isinstance(done, AttemptError)
    assert (done.code, done.reason) == (2, "RefusedAddress")
    assert server.requests == []


def test_a_page_of_another_bucket_is_no_listing(server: Server, cube: Cube) -> None:
    def other(request: Request) -> Answer | None:
        return (
            Answer(body=page([("a", KEY, 1)]).replace(b"<Name>bucket<", b"<Name>other<"))
            if request.is_listing
            else None
        )

    server.rule = other
    done = cube.download()
    assert (done.code, done.last["reason"]) == (10, "BadAnswer")
