"""`scheduling.exclusive` of a Training with the real JobSet controller and its webhooks: each job has its own nodes."""

import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.reporters import HOLD, Site

NUMBERS = itertools.count()


@pytest.fixture
def site(jobset_cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    """A namespace of the test's own."""
    made = Site(jobset_cluster, jobset_cluster.namespace(f"training-placement-{next(NUMBERS)}"), tmp_path)
    yield made
    jobset_cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.namespace}})


def training(name: str, **scheduling: Any) -> Manifest:
    template = {"metadata": {"annotations": {HOLD: "true"}}}
    fields = {"framework": "torch", "image": "local/none:1", "numNodes": 3, "template": template}
    return {**ref("stowplan.dev/v1alpha1", "Training", name), "spec": {**fields, "scheduling": scheduling}}


def nodes(site: Site, name: str) -> set[str] | None:
    """The nodes on which the three pods of a job run; None before that."""
    found = [pod["spec"].get("nodeName") for pod in site.pods(name)]
    return {str(node) for node in found} if len(found) == 3 and all(found) else None


def test_jobs_with_nodes_of_their_own_share_none(site: Site) -> None:
    jobs = ("a", "b")
    site.apply([training(name, exclusive="kubernetes.io/hostname") for name in jobs], {"engines": {"jobs": "jobset"}})
    first, second = (wait_for(partial(nodes, site, name), what=f"the pods of {name}") for name in jobs)
    assert len(first) == len(second) == 1
    assert first != second


def test_jobs_without_are_spread(site: Site) -> None:
    site.apply([training("a")], {"engines": {"jobs": "jobset"}})
    assert len(wait_for(lambda: nodes(site, "a"), what="the pods")) > 1
