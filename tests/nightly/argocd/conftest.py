"""A control plane of the newest Kubernetes, and what runs Argo CD on it."""

import pytest

from tests.absent import skip
from tests.cluster.fixtures import cluster, programs_of, served
from tests.cluster.tools import ARGOCD, NEWEST
from tests.nightly.argocd import argocd

__all__ = ["cluster", "served"]


@pytest.fixture(scope="session")
def minor() -> str:
    """The Kubernetes minor of the control plane, such as `1.37`."""
    return NEWEST


@pytest.fixture(scope="session")
def argocd_programs() -> argocd.Programs:
    """What runs Argo CD."""
    redis = argocd.redis_server()
    if redis is None:
        skip("no redis-server, which Argo CD needs")
    return argocd.Programs(programs_of([ARGOCD])["argocd-controllers"], redis)
