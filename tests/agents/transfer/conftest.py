"""The servers of these tests, and a transfer for each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.transfer.agent import Cube
from tests.agents.transfer.faults import Proxy, proxied
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.hub_base import TOKEN, Hub
from tests.agents.transfer.hub_server import running
from tests.agents.transfer.odd_store import OddStore, odd_store
from tests.agents.transfer.reports import Reports, listening
from tests.agents.transfer.server import Storage, needed, new_bucket, serving


@pytest.fixture(scope="session")
def s3_server(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a running server."""
    with serving(program, tmp_path_factory.mktemp("s3")) as url:
        yield url


@pytest.fixture(scope="session")
def program() -> Path:
    """The server itself."""
    return needed()


@pytest.fixture
def storage(s3_server: str) -> Storage:
    """An empty bucket."""
    return new_bucket(s3_server)


@pytest.fixture
def cube(storage: Storage, tmp_path: Path) -> Cube:
    """A transfer between an empty claim and the bucket."""
    return Cube(tmp_path, storage)


@pytest.fixture
def proxy(s3_server: str) -> Iterator[Proxy]:
    """A proxy in front of the server."""
    with proxied(s3_server) as running:
        yield running


@pytest.fixture
def watched(cube: Cube, proxy: Proxy) -> Cube:
    """The transfer through the proxy."""
    return Cube(cube.folder, cube.storage, proxy.url)


@pytest.fixture
def odd() -> Iterator[OddStore]:
    """A small store with quirks."""
    with odd_store() as store:
        yield store


@pytest.fixture
def reports(tmp_path: Path) -> Iterator[Reports]:
    """What transfers tell a cluster."""
    with listening(tmp_path / "reports") as listener:
        yield listener


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A Hub and its storage."""
    (tmp_path / "hub").mkdir()
    with running(tmp_path / "hub") as server:
        yield server


@pytest.fixture
def hub_proxy(hub: Hub) -> Iterator[Proxy]:
    """A proxy in front of the Hub."""
    with proxied(hub.url) as proxy:
        yield proxy


@pytest.fixture
def storage_proxy(hub: Hub) -> Iterator[Proxy]:
    """A proxy in front of the storage that the Hub leads to."""
    with proxied(hub.storage) as proxy:
        hub.storage = proxy.url
        yield proxy


@pytest.fixture
def repo(hub: Hub, hub_proxy: Proxy, storage_proxy: Proxy, tmp_path: Path) -> HubCube:
    """A transfer between an empty claim and a new repository that its token may write to, all through the proxies."""
    repository = hub.store.make("owner/name", writers={TOKEN})
    (tmp_path / "agent").mkdir()
    return HubCube(tmp_path / "agent", hub, repository, hub_proxy.url)
