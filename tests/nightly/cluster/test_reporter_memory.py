"""The reporter's memory, with as many resources as a large namespace has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.client import Manifest, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.reporters import Site, data_cube


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Site:
    """A namespace of the test's own."""
    return Site(cluster, cluster.namespace("reporter-memory"), tmp_path)


def test_a_thousand_resources_fit_into_its_memory(site: Site) -> None:
    """With a Job and a pod each, as large as compiled ones are; each kind is listed once, and events once by reason."""
    site.apply([data_cube("cube")])
    (resource,), (job,) = site.made("DataCube"), site.made("Job")
    for number in range(1000):
        for each in _copies(site, resource, job, f"cube-{number}"):
            site.cluster.admin.create(each)
    with site.reporter() as reporter:
        path = site.cluster.admin.collection(resource)
        wait_for(lambda: _all_told(site.cluster.admin.request("GET", path)["items"]), 180, what="reports on all")
        events = [each for each in reporter.events() if each["message"] == "Listed"]
        listed = [(each["collection"], each.get("fieldSelector")) for each in events]
        assert len(listed) == len(set(listed)) == 16
        memory = reporter.memory() / 2**20
        print(f"peak memory with 1000 resources: {memory:.0f} MiB")  # noqa: T201
        assert memory < 100


def _copies(site: Site, resource: Manifest, job: Manifest, name: str) -> Iterator[Manifest]:
    """A custom resource of that name, its Job, and a pod that never starts."""
    own, run = {**resource["metadata"]["labels"], "stowplan.dev/name": name}, f"{name}-batchjob-abcdefgh"
    place = {"namespace": site.namespace, "labels": own}
    yield {**resource, "metadata": {"name": name, **place}}
    yield {**job, "metadata": {"name": run, **place}, "spec": {**job["spec"], "suspend": True}}
    template = job["spec"]["template"]
    labels = {**template["metadata"]["labels"], **own, "batch.kubernetes.io/job-name": run}
    held = {"schedulingGates": [{"name": "stowplan.dev/never"}], "serviceAccountName": "default"}
    metadata = {"name": f"{run}-xyzab", **place, "labels": labels}
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**template["spec"], **held}}


def _all_told(items: list[Manifest]) -> bool:
    return len(items) > 1000 and all((each.get("status") or {}).get("observedGeneration") for each in items)
