"""Addresses of stores: the bucket of a tenant, an endpoint with a path, a bucket that must be in the host."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.remotes.s3.protocol.signing import S3Credentials, Unsigned, signed_headers
from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import Answer, Request, Rule, Server

TIME = {"last-modified": "Thu, 01 Jan 2026 00:00:00 GMT"}


def below(server: Server, path: str, name: str) -> Rule:
    """A store that has its bucket at a path, and nothing elsewhere. `name` is what its lists call the bucket."""

    def rule(request: Request) -> Answer:
        if not request.path.startswith(path) or not signed(request):
            return Answer(403)
        if request.is_listing:
            found = server.listing(request.query["prefix"])
            return Answer(body=found.replace(b"<Name>bucket<", f"<Name>{name}<".encode()))
        key = request.key.removeprefix(path.replace("%3A", ":")[1:]).removeprefix("/")
        if key not in server.objects:
            return Answer(404)
        return Answer(body=server.objects[key], headers={"etag": server.etag(key), **TIME})

    return rule


def signed(request: Request) -> bool:
    """Whether the signature is that of the path as it was sent."""
    headers = {name: request.headers[name] for name in _names(request)}
    unsigned = Unsigned(request.method, request.headers["host"], request.path, request.words, headers)
    now = datetime.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    wanted = signed_headers(unsigned, S3Credentials(ACCESS_KEY, SECRET_KEY), "us-east-1", now)
    return wanted["authorization"] == request.headers["authorization"]


def _names(request: Request) -> list[str]:
    names = request.headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    return [name for name in names if name not in ("host", "x-amz-content-sha256", "x-amz-date")]


@pytest.mark.parametrize("slash", ["", "/"])
def test_endpoint_with_a_path(server: Server, cube: Cube, slash: str) -> None:
    server.objects = {"d/a b": b"x", "d/c+d": b"y"}
    server.rule = below(server, "/store/s3/bucket", "bucket")
    cube = replace(cube, endpoint=f"{server.url}/store/s3{slash}")
    for _ in range(2):
        assert isinstance(attempt(cube, cube.remote("d/"), cube.local()), str)
        assert files(cube.data) == {"a b": b"x", "c+d": b"y"}


@pytest.mark.parametrize("name", ["bucket", "team:bucket"])
def test_bucket_of_a_tenant_of_ceph(server: Server, cube: Cube, name: str) -> None:
    """Ceph's lists name the bucket without its tenant. It signs the colon of the path percent-encoded."""
    server.objects = {"a": b"x"}
    server.rule = below(server, "/team%3Abucket", name)
    source = cube.remote() | {"uri": "s3://team:bucket/"}
    assert isinstance(attempt(cube, source, cube.local()), str)
    assert files(cube.data) == {"a": b"x"}


@pytest.mark.parametrize("fields", [{"pathStyle": False}, {"endpointEnv": None}])
def test_no_host_holds_a_tenant(cube: Cube, fields: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="path style"):
        attempt(cube, cube.remote() | {"uri": "s3://team:bucket/"} | fields, cube.local())


def test_prefix_with_a_blank(server: Server, cube: Cube) -> None:
    server.objects = {"my data/a": b"x"}
    assert isinstance(attempt(cube, cube.remote("my data"), cube.local()), str)
    assert files(cube.data) == {"a": b"x"}
