"""The fixtures of the tests of Hugging Face Hubs."""

from collections.abc import Iterator

import pytest
from huggingface_hub import set_client_factory
from huggingface_hub.utils._http import default_client_factory

from tests.agents.transfer.conftest import hub, hub_proxy, repo, storage_proxy

__all__ = ["hub", "hub_proxy", "repo", "storage_proxy"]


@pytest.fixture(autouse=True)
def _own_connections() -> Iterator[None]:
    """An attempt in the test's own process leaves its kind of connections to the library, which other tests use too."""
    yield
    set_client_factory(default_client_factory)
