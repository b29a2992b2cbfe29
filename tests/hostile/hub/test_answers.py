"""A Hub with hostile answers."""

import gzip
import json

import pytest

from stowplan.agents.attempt.failure import AttemptError
from tests.agents.transfer.agent import files
from tests.agents.transfer.faults import Fault, Proxy, Request, Rule
from tests.agents.transfer.hub_agent import HubCube
from tests.hostile.s3.attempt import attempt

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def filled(repo: HubCube) -> HubCube:
    repo.hub.store.put(repo.repository, {"a.txt": b"a", "b.bin": b"b" * 3000})
    return repo.with_options(requestRetries=0)


def listing(body: bytes, headers: dict[str, str] | None = None) -> Rule:
    """Answers each question for files with this."""
    return lambda request: Fault(200, body, {**JSON, **(headers or {})}) if "/tree/" in request.path else None


def entry(**fields: object) -> dict[str, object]:
    return {"type": "file", "path": "a", "size": 1, "oid": "a" * 40, **fields}


NO_LISTINGS: list[object] = [
    [entry(size=-1)],
    [entry(size="1")],
    [entry(size=True)],
    [entry(path=["a"])],
    [entry(oid="../x")],
    [entry(lfs={"oid": "x"})],
    [entry(lfs="x")],
    [entry(xetHash="../x")],
    [{"type": "file"}],
    ["x"],
    {"type": "file"},
    7,
]


def test_listings_that_are_none(filled: HubCube, hub_proxy: Proxy) -> None:
    for entries in NO_LISTINGS:
        hub_proxy.rule = listing(json.dumps(entries).encode())
        done = attempt(filled, filled.remote(), filled.local())
        assert isinstance(done, AttemptError), entries
        assert (done.code, done.reason) == (5, "BadAnswer"), entries
        assert files(filled.data) == {}


@pytest.mark.parametrize("body", [b"<html>Please log in</html>", b"[" * 100_000, b""])
def test_what_is_no_json(filled: HubCube, hub_proxy: Proxy, body: bytes) -> None:
    hub_proxy.rule = listing(body)
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (10, "BadAnswer"), ended.output
    assert "Traceback" not in ended.output


def test_page_that_leads_to_itself(filled: HubCube, hub_proxy: Proxy) -> None:
    def rule(request: Request) -> Fault | None:
        if "/tree/" not in request.path:
            return None
        return Fault(200, b"[]", {**JSON, "Link": f'<{hub_proxy.url}{request.path}>; rel="next"'})

    hub_proxy.rule = rule
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (5, "BadAnswer"), ended.output
    assert hub_proxy.count("GET", "/tree/") == 1


def test_pages_without_end(filled: HubCube, hub_proxy: Proxy) -> None:
    """Each with many files of long names."""
    number = 0

    def rule(request: Request) -> Fault | None:
        nonlocal number
        if "/tree/" not in request.path:
            return None
        number += 1
        body = json.dumps([entry(path=f"{number:06}/{each:06}/{'x' * 200}/{'y' * 200}") for each in range(8000)])
        path = request.path.partition("?")[0]
        return Fault(200, body.encode(), {**JSON, "Link": f'<{hub_proxy.url}{path}?cursor={number}>; rel="next"'})

    hub_proxy.rule = rule
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (5, "TooLarge"), ended.output


def test_listing_of_a_great_many_bytes(filled: HubCube, hub_proxy: Proxy) -> None:
    hub_proxy.rule = listing(b"[" + b" " * (17 << 20) + b"]")
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (5, "BadAnswer"), ended.output


def test_listing_that_grows_when_it_is_unpacked(filled: HubCube, hub_proxy: Proxy) -> None:
    hub_proxy.rule = listing(gzip.compress(b" " * (1 << 30), 1), {"Content-Encoding": "gzip"})
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (5, "BadAnswer"), ended.output


def test_commit_that_is_none(filled: HubCube, hub_proxy: Proxy) -> None:
    body = json.dumps({"sha": "main/../../x"}).encode()
    hub_proxy.rule = lambda request: Fault(200, body, JSON) if "/tree/" not in request.path else None
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (4, "NoCommit"), ended.output


def test_content_leads_to_no_other_host(filled: HubCube, hub_proxy: Proxy) -> None:
    other = f"http://localhost:{hub_proxy.url.rpartition(':')[2]}/latest/meta-data"
    hub_proxy.rule = lambda request: Fault(302, headers={"Location": other}) if "/resolve/" in request.path else None
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (5, "OtherHost"), ended.output
    assert not [each for each in hub_proxy.requests if "latest" in each.path]
    assert files(filled.data) == {}


def test_a_service_that_everybody_knows_is_not_asked_by_plain_http(filled: HubCube, hub_proxy: Proxy) -> None:
    def rule(request: Request) -> Fault | None:
        return Fault(302, headers={"Location": "http://github.com/x"}) if "/resolve/" in request.path else None

    hub_proxy.rule = rule
    ended = filled.download()
    assert (ended.code, ended.last["reason"]) == (5, "OtherHost"), ended.output
    assert "plain http" in ended.last["message"]


@pytest.mark.parametrize("way", ["download", "upload"])
def test_xet_store_is_no_other_host(filled: HubCube, hub_proxy: Proxy, way: str) -> None:
    headers = {
        **JSON,
        "x-xet-cas-url": "http://169.254.169.254/",
        "x-xet-access-token": "t",
        "x-xet-token-expiration": "9999999999",
    }
    xet = json.dumps([entry(lfs={"oid": "b" * 64}, xetHash="c" * 64)]).encode()

    def rule(request: Request) -> Fault | None:
        if "/tree/" in request.path and way == "download":
            return Fault(200, xet, JSON)
        return Fault(200, b"{}", headers) if "-token/" in request.path else None

    hub_proxy.rule = rule
    filled.write({"new.bin": b"n" * 3000})
    cube = filled.with_options(memoryMiB=1024)
    ended = cube.download() if way == "download" else cube.upload()
    assert (ended.code, ended.last["reason"]) == (5, "OtherHost"), ended.output


def test_refusal_of_a_great_many_bytes(filled: HubCube, hub_proxy: Proxy) -> None:
    hub_proxy.rule = lambda request: Fault(403, b"x" * (1 << 20), JSON) if "/resolve/" in request.path else None
    ended = filled.download()
    assert ended.code in (3, 5), ended.output
    assert len(ended.output) < 20_000
