"""The migration from paddle-operator in the README, on a cluster as paddle-operator left it.

It needs a separate cluster, whose CRDs are the old ones until Stowplan's CRDs replace them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.cluster import old_operator, sync
from tests.cluster.accounts import accounts
from tests.cluster.binaries import find
from tests.cluster.client import ApiError, Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster, running
from tests.cluster.edits import accepts
from tests.cluster.old_operator import Dataset
from tests.cluster.tools import control_plane
from tests.repositories import compiled

ADOPTED = Dataset("paddle-system", "imagenet")
RECREATED = Dataset("paddle-other", "mnist")
RELEASED = Dataset("paddle-other", "cifar")
BLOCKED = Dataset("paddle-system", "coco")

SPEC = {"partitions": 1, "source": {"uri": "bos://bucket.bj.bcebos.com/data"}, "secretRef": {"name": "volume"}}
FINISHED = {
    **ref("batch.paddlepaddle.org/v1alpha1", "SampleJob", "imagenet-warmup", ADOPTED.namespace),
    "spec": {"type": "warmup", "sampleSetRef": {"name": ADOPTED.name}},
}
TRAINER = {
    **ref("v1", "Pod", "trainer", ADOPTED.namespace),
    "spec": {
        "containers": [
            {"name": "main", "image": "local/none", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
        ],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": ADOPTED.name}}],
    },
}


@pytest.fixture(scope="module")
def old(cluster: Cluster, minor: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A control plane of its own, of the same minor, with the old objects of all datasets."""
    found = [find(tool) for tool in control_plane(minor)]
    programs = {name: path for each in found if each for name, path in each.paths.items()}
    with running(programs, tmp_path_factory.mktemp("old")) as own:
        old_operator.install_crds(own.admin)
        for dataset in (ADOPTED, RECREATED, RELEASED, BLOCKED):
            own.namespace(dataset.namespace, "privileged")
            old_operator.install(own.admin, dataset, SPEC)
        old_operator.install_finished_job(own.admin, FINISHED)
        own.admin.create(TRAINER)
        yield own


def _compile(folder: Path, names: str, *documents: Manifest) -> list[Manifest]:
    platform = f"kind: Platform\nnames: {names}\nimages: {{registry: registry.example.com/ml}}\n"
    result = compiled(folder, {"specs.yaml": platform + "---\n" + yaml.safe_dump_all(documents)})
    assert result.errors == []
    return [output.manifest.body for output in result.outputs]


def _one(manifests: list[Manifest], kind: str) -> Manifest:
    (found,) = (each for each in manifests if each["kind"] == kind)
    return found


def _strip_finalizers(client: Client, resource: Manifest) -> None:
    client.patch(resource, {"metadata": {"finalizers": None}})


def _delete(client: Client, manifest: Manifest) -> None:
    """As kubectl does it: until it is gone."""
    client.delete(manifest)
    wait_for(lambda: client.find(manifest) is None, what=f"end of {manifest['kind']} {manifest['metadata']['name']}")


def _await_cache_pod(client: Client, dataset: Dataset) -> Manifest:
    wait_for(lambda: client.get(dataset.runtime)["status"].get("readyReplicas"), what="the new cache pod")
    return client.get(ref("v1", "Pod", f"{dataset.name}-runtime-0", dataset.namespace))


@dataclass(frozen=True)
class Migrated:
    """A dataset that came over: the manifests that were synced, and its old objects as they were before."""

    client: Client
    manifests: list[Manifest]
    before: dict[str, Manifest]
    """By kind."""

    def after(self, kind: str) -> Manifest:
        return self.client.get(self.before[kind])


def _before(client: Client, *manifests: Manifest) -> dict[str, Manifest]:
    return {manifest["kind"]: client.get(manifest) for manifest in manifests}


@pytest.fixture(scope="module")
def adopted(old: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Migrated:
    """Came over with `names: upstream`, from the YAML that the cluster prints."""
    client, data = old.admin, ADOPTED
    before = _before(client, data.resource, data.volume, data.claim, data.service, FINISHED, TRAINER)
    for resource in (data.resource, FINISHED):
        _strip_finalizers(client, resource)
    printed = [client.get(data.resource), client.get(FINISHED)]
    printed[0]["spec"]["noSync"] = True
    manifests = _compile(tmp_path_factory.mktemp("adopted"), "upstream", *printed)
    _delete(client, data.runtime)
    old.namespace(data.namespace, "restricted")
    return Migrated(client, sync.apply(client, manifests), before)


@pytest.fixture(scope="module")
def recreated(old: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Migrated:
    """Came over with the default names, after its claim and volume were deleted."""
    client, data = old.admin, RECREATED
    before = _before(client, data.resource, data.volume, data.claim, data.service)
    _strip_finalizers(client, data.resource)
    manifests = _compile(tmp_path_factory.mktemp("recreated"), "namespaced", {**data.resource, "spec": SPEC})
    for manifest in (data.runtime, data.claim, data.volume):
        _delete(client, manifest)
    return Migrated(client, sync.apply(client, manifests), before)


@pytest.mark.parametrize(
    ("names", "in_the_way"),
    [("upstream", {"StatefulSet"}), ("namespaced", {"StatefulSet", "PersistentVolumeClaim"})],
)
def test_only_what_the_readme_deletes_is_in_the_way(
    old: Cluster, names: str, in_the_way: set[str], tmp_path: Path
) -> None:
    manifests = _compile(tmp_path, names, {**BLOCKED.resource, "spec": SPEC})
    assert {each["kind"] for each in manifests if not accepts(old.admin, each)} == in_the_way


def test_finalizer_keeps_a_resource_until_it_is_stripped(old: Cluster) -> None:
    client = old.admin
    client.delete(BLOCKED.resource)
    assert client.find(BLOCKED.resource) is not None
    _strip_finalizers(client, BLOCKED.resource)
    assert client.find(BLOCKED.resource) is None


@pytest.mark.parametrize("kind", ["PersistentVolume", "PersistentVolumeClaim", "Service", "SampleSet", "SampleJob"])
def test_object_is_adopted(adopted: Migrated, kind: str) -> None:
    assert adopted.after(kind)["metadata"]["uid"] == adopted.before[kind]["metadata"]["uid"]


def test_claim_stays_bound_and_mounted(adopted: Migrated) -> None:
    assert adopted.after("PersistentVolumeClaim")["status"]["phase"] == "Bound"
    assert adopted.after("PersistentVolume")["status"]["phase"] == "Bound"
    claim = adopted.after("PersistentVolumeClaim")["metadata"]["uid"]
    assert adopted.after("PersistentVolume")["spec"]["claimRef"]["uid"] == claim
    assert adopted.after("Pod")["metadata"]["uid"] == adopted.before["Pod"]["metadata"]["uid"]


def test_cache_pod_runs_under_restricted_security(adopted: Migrated) -> None:
    pod = _await_cache_pod(adopted.client, ADOPTED)
    (container,) = pod["spec"]["containers"]
    assert "privileged" not in container["securityContext"]
    assert not any("hostPath" in volume for volume in pod["spec"]["volumes"])


@pytest.mark.parametrize("kind", ["SampleSet", "SampleJob"])
def test_status_survives(adopted: Migrated, kind: str) -> None:
    assert adopted.after(kind)["status"] == adopted.before[kind]["status"]
    assert "finalizers" not in adopted.after(kind)["metadata"]


def test_finished_job_that_is_committed_runs_once_more(adopted: Migrated) -> None:
    jobs = [each["metadata"]["name"] for each in adopted.manifests if each["kind"] == "Job"]
    assert len(jobs) == 1
    assert jobs[0].startswith("imagenet-warmup-samplejob-0-")


def test_second_sync_changes_nothing(adopted: Migrated) -> None:
    _await_cache_pod(adopted.client, ADOPTED)
    for manifest in adopted.manifests:
        _await_unchanged(adopted.client, manifest)


def _await_unchanged(client: Client, manifest: Manifest) -> None:
    """Controllers may write between the two requests, so it is tried again for a moment."""
    what = f"no change of {manifest['kind']} {manifest['metadata']['name']}"
    wait_for(lambda: client.get(manifest) == client.apply(manifest, dry_run=True), 10, what=what)


def test_what_the_operator_wrote_beside_ours_stays(adopted: Migrated) -> None:
    """Server-side apply leaves it: the port of the Service, and the mount options that cannot be edited."""
    for kind in ("PersistentVolume", "PersistentVolumeClaim", "Service"):
        assert adopted.after(kind)["metadata"]["annotations"]["CreatedBy"] == "paddle-operator"
    assert [port["port"] for port in adopted.after("Service")["spec"]["ports"]] == [7716]
    volume = adopted.after("PersistentVolume")["spec"]
    assert volume["csi"] == adopted.before["PersistentVolume"]["spec"]["csi"]
    assert "cache-size=4096" in volume["mountOptions"]


def test_label_stays_on_the_node(adopted: Migrated) -> None:
    """We write nothing to nodes, so an admin removes it."""
    (key,) = ADOPTED.label
    assert [node for node in adopted.client.list("v1", "Node") if key in node["metadata"]["labels"]]


def test_agent_takes_the_old_status_over_by_force(old: Cluster, adopted: Migrated) -> None:
    account = accounts(adopted.manifests)[f"{ADOPTED.namespace}/{ADOPTED.name}-sampleset"]
    agent = old.client_for_service_account(account.namespace, account.name)
    wait_for(lambda: _readable(agent, account.target), what="the binding")
    status = {**account.target, "status": {"cacheStatus": {"cachedSize": "58 MiB"}}}
    with pytest.raises(ApiError, match=f"Conflict.*{old_operator.OPERATOR}"):
        agent.apply(status, manager="stowplan-cache-sum", subresource="status", force=False, dry_run=True)
    taken = agent.apply(status, manager="stowplan-cache-sum", subresource="status", dry_run=True)
    assert taken["status"]["cacheStatus"] == {**old_operator.STATUS["cacheStatus"], "cachedSize": "58 MiB"}


def _readable(agent: Client, target: Manifest) -> bool:
    try:
        return agent.find(target) is not None
    except ApiError as error:
        if error.status == 403:
            return False
        raise


def test_dataset_gets_a_volume_of_its_own_name(recreated: Migrated) -> None:
    client = recreated.client
    wait_for(lambda: old_operator.bound(client, RECREATED.claim), what="the new claim")
    claim = recreated.after("PersistentVolumeClaim")
    assert claim["spec"]["volumeName"] == "paddle-other.mnist"
    assert claim["metadata"]["uid"] != recreated.before["PersistentVolumeClaim"]["metadata"]["uid"]
    assert client.find(RECREATED.volume) is None
    assert _await_cache_pod(client, RECREATED)["status"]["phase"] == "Running"


def test_service_of_a_recreated_dataset_selects_the_new_pods(recreated: Migrated) -> None:
    """A selector is replaced as a whole, so nothing of the old one stays."""
    assert recreated.after("Service")["metadata"]["uid"] == recreated.before["Service"]["metadata"]["uid"]
    compiled_service = _one(recreated.manifests, "Service")
    assert recreated.after("Service")["spec"]["selector"] == compiled_service["spec"]["selector"]


def test_resource_of_a_recreated_dataset_is_adopted(recreated: Migrated) -> None:
    before, after = recreated.before["SampleSet"], recreated.after("SampleSet")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"] == before["status"]


def test_volume_that_lost_its_claim_is_bound_again_once_cleared(old: Cluster, tmp_path: Path) -> None:
    client, data = old.admin, RELEASED
    _strip_finalizers(client, data.resource)
    volume = _one(_compile(tmp_path, "upstream", {**data.resource, "spec": SPEC}), "PersistentVolume")
    before = client.get(data.volume)
    for manifest in (data.runtime, data.claim):
        _delete(client, manifest)
    wait_for(lambda: client.get(data.volume)["status"]["phase"] == "Released", what="the released volume")
    old_claim = before["spec"]["claimRef"]["uid"]
    assert client.apply(volume, dry_run=True)["spec"]["claimRef"]["uid"] == old_claim

    cleared = [{"op": "remove", "path": "/spec/claimRef"}]
    client.http.patch(client.path(data.volume), json=cleared, headers={"Content-Type": "application/json-patch+json"})
    sync.apply(client, _compile(tmp_path, "upstream", {**data.resource, "spec": SPEC}))
    wait_for(lambda: old_operator.bound(client, data.claim), what="the claim made anew")
    assert client.get(data.volume)["metadata"]["uid"] == before["metadata"]["uid"]
