"""The Git server of these tests, and a transfer for each of them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.absent import skip
from tests.agents.transfer.faults import Proxy, proxied
from tests.agents.transfer.git.agent import Cube
from tests.agents.transfer.git.author import Author, author
from tests.agents.transfer.git.server import Forge, serving


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    missing = [name for name in ("git", "git-lfs") if shutil.which(name) is None]
    if missing:
        skip(f"{' and '.join(missing)} must be installed")


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    """A server without repositories."""
    with serving(tmp_path / "forge") as running:
        yield running


@pytest.fixture
def proxy(forge: Forge) -> Iterator[Proxy]:
    """A proxy in front of the server; clients know no other address."""
    with proxied(forge.url) as running:
        yield running


@pytest.fixture
def writer(tmp_path: Path, forge: Forge) -> Author:
    """Somebody who commits to `model.git`."""
    return author(tmp_path / "author", forge)


@pytest.fixture
def cube(tmp_path: Path, writer: Author, proxy: Proxy) -> Cube:
    """A transfer between an empty claim and `model.git`."""
    return Cube(tmp_path, f"{proxy.url}/model.git")
