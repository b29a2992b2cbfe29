"""The fixtures of the tests of Hugging Face Hubs."""

from tests.agents.transfer.conftest import hub, hub_proxy, repo, storage_proxy

__all__ = ["hub", "hub_proxy", "repo", "storage_proxy"]
