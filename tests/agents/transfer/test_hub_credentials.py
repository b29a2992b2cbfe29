"""The token for a Hub and that of its Xet store, when an answer leads to another host that the spec allows.

Each row has the path of the requests that the Hub or the store answers with a redirect to a server that writes down
what it hears. A host of the spec may send files, and hears no credentials.
"""

from collections.abc import Iterator

import pytest

from tests.agents.transfer.faults import Fault, Proxy, Request, proxied
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.hub_base import TOKEN
from tests.agents.transfer.hub_xet import CLIENT, Xet, serving
from tests.agents.transfer.hub_xet import TOKEN as STORE
from tests.recorder import Recorder, recording

FILES = {"small.txt": b"a", "large.bin": b"0123456789abcdef" * 10_000}

BY_HTTP = [
    ("download", "/api/models/owner/name"),
    ("download", "/tree/"),
    ("download", "/resolve/"),
    ("upload", "/preupload/"),
    ("upload", "/objects/batch"),
    ("upload", "/commit/main"),
]
BY_XET = [
    ("download", "/xet-read-token/"),
    ("download", "/reconstructions/"),
    ("upload", "/xet-write-token/"),
    ("upload", "/xorbs/"),
    ("upload", "/shards"),
]


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with recording() as found:
        yield found


def led(cube: HubCube, recorder: Recorder, proxies: list[Proxy], way: tuple[str, str], after: int = 0) -> None:
    """Runs a copy whose requests to a path are led away, but for the first ones."""
    flow, part = way
    met: list[Request] = []

    def rule(request: Request) -> Fault | None:
        if part not in request.path:
            return None
        met.append(request)
        return Fault(307, headers={"Location": f"{recorder.url}{request.path}"}) if len(met) > after else None

    for each in proxies:
        each.rule = rule
    hosts = [*cube.remote()["hosts"], recorder.host]
    cube = cube.with_options(requestRetries=0)
    if flow == "upload":
        cube.write({name: data + b"new" for name, data in FILES.items()})
    elif not cube.hub.xet:
        cube.hub.store.put(cube.repository, FILES)
    ended = cube.upload(hosts=hosts) if flow == "upload" else cube.download(hosts=hosts)
    assert len(met) > after, ended.output
    assert recorder.heard(TOKEN, STORE) == []
    assert TOKEN not in ended.output


@pytest.mark.parametrize(("flow", "part"), BY_HTTP)
def test_redirects_of_the_hub(repo: HubCube, hub_proxy: Proxy, recorder: Recorder, flow: str, part: str) -> None:
    led(repo, recorder, [hub_proxy], (flow, part))
    assert recorder.seen or flow == "upload"


@pytest.mark.parametrize(("flow", "part"), BY_XET)
def test_redirects_about_the_xet_store(
    repo: HubCube, hub_proxy: Proxy, recorder: Recorder, flow: str, part: str
) -> None:
    with serving(repo.hub) as xet, proxied(xet.url) as store:
        cube = repo.with_options(memoryMiB=512, environment=CLIENT)
        filled(cube, xet)
        xet.url = store.url
        led(cube, recorder, [hub_proxy, store], (flow, part))


@pytest.mark.parametrize("flow", ["download", "upload"])
def test_next_token_of_the_xet_store(repo: HubCube, hub_proxy: Proxy, recorder: Recorder, flow: str) -> None:
    """The library asks the Hub for it by itself, with the token for the Hub, since the first one is old already."""
    right = "read" if flow == "download" else "write"
    with serving(repo.hub) as xet:
        cube = repo.with_options(memoryMiB=512, environment=CLIENT)
        filled(cube, xet)
        xet.valid_seconds = -60
        led(cube, recorder, [hub_proxy], (flow, f"/xet-{right}-token/"), after=1)
        assert recorder.seen


def test_xet_store_hears_its_own_token_alone(repo: HubCube, recorder: Recorder) -> None:
    with serving(repo.hub) as xet:
        cube = repo.with_options(memoryMiB=512, requestRetries=0, environment=CLIENT)
        filled(cube, xet)
        xet.url = recorder.url
        assert cube.download().code
    assert recorder.heard(TOKEN, STORE) == [STORE]


def filled(cube: HubCube, xet: Xet) -> None:
    """Fills the repository by Xet, and empties the claim again."""
    cube.write(FILES)
    ended = cube.upload(run="fill")
    assert ended.code == 0, ended.output
    assert xet.files
    for name in FILES:
        (cube.data / name).unlink()
