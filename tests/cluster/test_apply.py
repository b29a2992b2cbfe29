"""A real API server accepts every object of compiled examples, use cases and the corpus, sent as by Argo CD.

At landing these are a few, and in the nightly tier all. An example that needs an engine's kinds is skipped if that
engine's CRDs are missing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.cluster import sync
from tests.cluster.client import ARGO_CD, ApiError, Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.examples import Example, agent_pod_specs, corpus, examples
from tests.cluster.ownership import shared, unowned
from tests.cluster.shared import engine_crd, parameters
from tests.cluster.use_cases import use_cases
from tests.tier import TIER

_ENGINE_GROUPS = {
    "argoproj.io",
    "jobset.x-k8s.io",
    "kueue.x-k8s.io",
    "scheduling.volcano.sh",
    "scheduling.x-k8s.io",
}
"""Whose CRDs the compiler does not emit."""
_RUNNING_PODS = {"Job", "StatefulSet", "Deployment"}
_STAYS = {"CustomResourceDefinition", "Namespace"}
"""Examples share them, so they are left in the cluster."""


SOME = ("kitchen-sink", "training", "core-none", "jobset-kueue")
"""At landing: objects of all kinds, JobSets of Trainings and of PaddleJobs, and fields that users leave empty."""
FOUND = {**examples(), **use_cases()}


@dataclass(frozen=True)
class Applied:
    """An example after its first sync."""

    example: Example
    client: Client
    manifests: list[Manifest]
    """In the order in which they were applied."""


@pytest.fixture(
    scope="module",
    params=parameters({name: FOUND[name] for name in SOME}, "examples")
    if TIER == "landing"
    else [*parameters(FOUND, "examples"), *parameters(corpus(), "../shared/corpus")],
)
def example(request: pytest.FixtureRequest) -> Example:
    """Each folder of `out/`, then jobs for each pair of engines, then the documents of the replaced systems."""
    get: Callable[[], Example] = request.param
    return get()


@pytest.fixture(scope="module")
def applied(cluster: Cluster, example: Example, request: pytest.FixtureRequest) -> Iterator[Applied]:
    """The example in namespaces that enforce what it promises; all it leaves behind is removed."""
    client = cluster.admin
    _serve_engines(client, [*example.manifests, *example.companions])
    if any(manifest["kind"] == "JobSet" for manifest in example.manifests):
        request.getfixturevalue("jobset_cluster")
    for namespace in example.awaited_namespaces:
        cluster.namespace(namespace, example.pod_security(namespace))
    try:
        sync.apply(client, example.companions)
        yield Applied(example, client, sync.apply(client, example.manifests))
    finally:
        sync.remove(client, [manifest for manifest in example.manifests if manifest["kind"] not in _STAYS])
        sync.remove(client, example.companions)
        for namespace in example.awaited_namespaces:
            cluster.release_namespace(namespace)


def _serve_engines(client: Client, manifests: list[Manifest]) -> None:
    kinds = {(manifest["apiVersion"].partition("/")[0], manifest["kind"]) for manifest in manifests}
    for group, kind in sorted(kinds):
        if group in _ENGINE_GROUPS:
            sync.establish(client, engine_crd(group, kind))


def test_second_sync_changes_nothing(applied: Applied) -> None:
    for manifest in applied.manifests:
        _assert_unchanged(applied.client, manifest)


def _assert_unchanged(client: Client, manifest: Manifest) -> None:
    """Controllers write while we compare, so compare only around a moment in which nobody did."""

    def compared() -> tuple[Manifest, Manifest] | None:
        before = client.get(manifest)
        after = client.apply(manifest, dry_run=True)
        unmoved = client.get(manifest)["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
        return (before, after) if unmoved else None

    before, after = wait_for(compared, what=f"a quiet moment of {manifest['metadata']['name']}")
    assert after == before


def test_every_field_belongs_to_the_sync_alone(applied: Applied) -> None:
    for manifest in applied.manifests:
        live = applied.client.get(manifest)
        what = f"{manifest['kind']} {manifest['metadata']['name']}"
        assert unowned(manifest, live, ARGO_CD) == [], what
        assert shared(live, ARGO_CD) == {}, what


def test_pods_are_admitted(applied: Applied) -> None:
    for manifest in applied.manifests:
        spec = manifest.get("spec", {})
        if manifest["kind"] in _RUNNING_PODS and not spec.get("suspend") and spec.get("replicas") != 0:
            for owner in _owners(applied.client, manifest):
                _await_pod(applied.client, owner)
        elif manifest["kind"] == "JobSet" and not spec.get("suspend"):
            for job in _await_jobs(applied.client, manifest):
                _await_pod(applied.client, job)


def _owners(client: Client, manifest: Manifest) -> list[Manifest]:
    """What the pods belong to: a Deployment has them by its ReplicaSet."""
    if manifest["kind"] != "Deployment":
        return [manifest]
    return wait_for(lambda: _children(client, manifest, "apps/v1", "ReplicaSet"), what="the ReplicaSet of a Deployment")


def _await_jobs(client: Client, job_set: Manifest) -> list[Manifest]:
    return wait_for(lambda: _children(client, job_set, "batch/v1", "Job"), what="the Jobs of a JobSet")


def _await_pod(client: Client, owner: Manifest) -> None:
    name, namespace = owner["metadata"]["name"], owner["metadata"]["namespace"]
    try:
        wait_for(lambda: _children(client, owner, "v1", "Pod"), what=f"a pod of {owner['kind']} {name}")
    except TimeoutError:
        events = client.list("v1", "Event", namespace)
        messages = [event["message"] for event in events if event["involvedObject"]["name"] == name]
        pytest.fail(f"no pod of {owner['kind']} {name}: {messages}")


def _children(client: Client, owner: Manifest, api_version: str, kind: str) -> list[Manifest]:
    uid = client.get(owner)["metadata"]["uid"]
    return [
        item
        for item in client.list(api_version, kind, owner["metadata"]["namespace"])
        if any(reference["uid"] == uid for reference in item["metadata"].get("ownerReferences", []))
    ]


def test_pods_of_agents_fit_a_restricted_namespace(cluster: Cluster, example: Example) -> None:
    namespace = cluster.namespace("apply-restricted")
    for spec in agent_pod_specs(example):
        pod = {**ref("v1", "Pod", "probe", namespace), "spec": {**spec, "serviceAccountName": "default"}}
        cluster.admin.create(pod, dry_run=True)


def test_objects_for_argo_cd_are_taken(cluster: Cluster, example: Example) -> None:
    _serve_engines(cluster.admin, example.argo_cd)
    for namespace in {manifest["metadata"]["namespace"] for manifest in example.argo_cd}:
        cluster.namespace(namespace)
    for manifest in sync.apply(cluster.admin, example.argo_cd):
        _assert_unchanged(cluster.admin, manifest)


def test_prune_in_reverse_leaves_only_what_is_kept(applied: Applied) -> None:
    """Runs last: it removes what the others look at."""
    kept = sync.prune(applied.client, applied.manifests)
    for manifest in applied.manifests:
        if manifest in kept:
            assert applied.client.find(manifest) is not None
        else:
            with pytest.raises(ApiError, match="NotFound"):
                applied.client.get(manifest)
