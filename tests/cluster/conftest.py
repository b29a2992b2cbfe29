"""The control plane of these tests is of the newest Kubernetes, and in the nightly tier of the oldest supported one."""

import pytest

from tests.cluster.fixtures import cluster, jobset_cluster, served
from tests.cluster.tools import NEWEST, OLDEST
from tests.tier import TIER

__all__ = ["cluster", "jobset_cluster", "served"]


@pytest.fixture(scope="session")
def minor() -> str:
    """The Kubernetes minor of the control plane, such as `1.37`."""
    return OLDEST if TIER == "nightly" else NEWEST
