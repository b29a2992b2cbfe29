"""References, selectors, and claims with their volumes."""

from typing import Any

import pytest

from stowplan.compiler.checks.across_specs import dangling_references, unmatched_selectors, volumes
from stowplan.compiler.checks.per_spec import selectors
from stowplan.library.manifest import ExternalReference, Json
from stowplan.schema.diagnostics import Severity
from tests.unit.compiler.checks.given import (
    GONE,
    body,
    changed,
    claim,
    config_map,
    fields,
    foreign,
    graph,
    job,
    objects,
    output,
    role,
    role_binding,
    service,
    stateful_set,
    texts,
    volume,
)

POD = "spec.template.spec"
ACCOUNT = body("ServiceAccount", "agent")


def with_pod(**spec: Any) -> Json:
    made = job()
    for field, value in spec.items():
        made = changed(made, f"{POD}.{field}", value)
    return made


def with_container(**container: Any) -> Json:
    made = job()
    for field, value in container.items():
        made = changed(made, f"{POD}.containers.0.{field}", value)
    return made


def volumes_of(**source: Any) -> Json:
    return with_pod(volumes=[{"name": "v", **source}])


def near(pod: str, **term: Any) -> Json:
    label = {"statefulset.kubernetes.io/pod-name": pod}
    found = {"labelSelector": {"matchLabels": label}, "topologyKey": "kubernetes.io/hostname", **term}
    return with_pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [found]}})


POD_NAME = "statefulset.kubernetes.io/pod-name"
TERM = f"{POD}.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector"

DANGLING = [
    (with_pod(serviceAccountName="agent"), f"{POD}.serviceAccountName", ACCOUNT),
    (volumes_of(configMap={"name": "settings"}), f"{POD}.volumes[0].configMap.name", config_map()),
    (
        volumes_of(persistentVolumeClaim={"claimName": "data"}),
        f"{POD}.volumes[0].persistentVolumeClaim.claimName",
        changed(claim(), "spec.volumeName", GONE),
    ),
    (
        volumes_of(projected={"sources": [{"configMap": {"name": "settings"}}]}),
        f"{POD}.volumes[0].projected.sources[0].configMap.name",
        config_map(),
    ),
    (
        with_container(envFrom=[{"configMapRef": {"name": "settings"}}]),
        f"{POD}.containers[0].envFrom[0].configMapRef.name",
        config_map(),
    ),
    (
        with_pod(priorityClassName="high"),
        f"{POD}.priorityClassName",
        body("PriorityClass", "high", api="scheduling.k8s.io/v1", namespace="", value=1),
    ),
    (stateful_set(), "spec.serviceName", service()),
    (near("cache-1"), f'{TERM}.matchLabels["statefulset.kubernetes.io/pod-name"]', stateful_set(serviceName="")),
]


@pytest.mark.parametrize(("made", "path", "target"), DANGLING, ids=[path for _, path, _ in DANGLING])
def test_a_reference_leads_to_an_object_or_is_dangling(made: Json, path: str, target: Json) -> None:
    assert dangling_references.check(graph(made, target)) == []
    found = dangling_references.check(graph(made))
    assert fields(found) == [("SP506", path)]
    assert "nothing compiles to it" in texts(found)


def test_a_claim_and_its_volume_need_each_other() -> None:
    assert dangling_references.check(graph(claim(), volume())) == []
    assert fields(dangling_references.check(graph(claim()))) == [("SP506", "spec.volumeName")]
    assert fields(dangling_references.check(graph(volume()))) == [("SP506", "spec.claimRef.name")]


def test_a_binding_needs_its_role_and_its_accounts() -> None:
    assert dangling_references.check(graph(role_binding(), role(), ACCOUNT)) == []
    assert fields(dangling_references.check(graph(role_binding()))) == [
        ("SP506", "roleRef.name"),
        ("SP506", "subjects[0].name"),
    ]


def test_the_object_must_be_in_the_same_namespace() -> None:
    elsewhere = changed(ACCOUNT, "metadata.namespace", "other")
    assert len(dangling_references.check(graph(with_pod(serviceAccountName="agent"), elsewhere))) == 1


@pytest.mark.parametrize(
    "made",
    [
        with_pod(serviceAccountName="default"),
        with_pod(priorityClassName="system-node-critical"),
        volumes_of(configMap={"name": "kube-root-ca.crt"}),
        volumes_of(configMap={"name": "settings", "optional": True}),
        volumes_of(secret={"secretName": "token"}),
        with_container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "token", "key": "a"}}}]),
        role_binding(roleRef={"kind": "ClusterRole", "name": "view"}, subjects=[]),
        stateful_set(serviceName=""),
    ],
)
def test_references_that_need_no_object_of_the_output(made: Json) -> None:
    assert dangling_references.check(graph(made)) == []


def test_external_objects_of_a_unit_count_as_existing() -> None:
    made = volumes_of(persistentVolumeClaim={"claimName": "data"})
    listed = ExternalReference("PersistentVolumeClaim", "ml", "data")
    assert dangling_references.check(graph(output(made, externals=[listed]))) == []


def test_claims_of_a_template_are_made_by_the_stateful_set() -> None:
    made = stateful_set(serviceName="", volumeClaimTemplates=[{"metadata": {"name": "v"}}])
    mounted = [{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}]
    assert dangling_references.check(graph(changed(made, f"{POD}.volumes", mounted))) == []


def test_a_key_that_the_config_map_lacks() -> None:
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "sise"}}}]
    found = dangling_references.check(graph(with_container(env=env), config_map(size="1")))
    assert fields(found) == [("SP506", f"{POD}.containers[0].env[0].valueFrom.configMapKeyRef.key")]
    assert 'Did you mean "size"?' in texts(found)
    projected = volumes_of(configMap={"name": "settings", "items": [{"key": "size", "path": "a"}]})
    assert dangling_references.check(graph(projected, config_map(size="1"))) == []
    assert len(dangling_references.check(graph(projected, config_map()))) == 1


def test_a_pod_number_beyond_the_replicas() -> None:
    cache = stateful_set(serviceName="", replicas=2)
    assert dangling_references.check(graph(near("cache-1"), cache)) == []
    found = dangling_references.check(graph(near("cache-2"), cache))
    assert "has 2 pods, so there is none with the number 2" in texts(found)


def test_a_label_without_value_names_no_pod() -> None:
    empty = changed(near("cache-0"), TERM.replace("[0]", ".0"), {"matchLabels": {POD_NAME: None}})
    assert dangling_references.check(graph(empty)) == []


def test_a_dangling_reference_of_a_foreign_object_is_a_warning() -> None:
    found = dangling_references.check(graph(foreign(with_pod(serviceAccountName="agent"))))
    assert [each.found.severity for each in found] == [Severity.WARNING]


def test_the_hint_names_the_nearest_object() -> None:
    found = dangling_references.check(graph(with_pod(serviceAccountName="agnet"), ACCOUNT))
    assert 'Did you mean "agent"?' in texts(found)


BUDGET = body("PodDisruptionBudget", "cache", api="policy/v1", spec={"selector": {"matchLabels": {"app": "a"}}})
POLICY = body("NetworkPolicy", "a", api="networking.k8s.io/v1", spec={"podSelector": {"matchLabels": {"app": "a"}}})


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (service(), "spec.selector"),
        (BUDGET, "spec.selector"),
        (POLICY, "spec.podSelector"),
    ],
)
def test_a_selector_without_a_pod_is_reported(made: Json, path: str) -> None:
    assert unmatched_selectors.check(graph(made, stateful_set())) == []
    other = changed(stateful_set(), "metadata.namespace", "other")
    assert fields(unmatched_selectors.check(graph(made, other))) == [("SP506", path)]
    assert unmatched_selectors.check(graph(foreign(made))) == []


def test_a_required_affinity_without_a_pod_is_reported() -> None:
    close = changed(near("cache-0"), TERM.replace("[0]", ".0"), {"matchLabels": {"app": "cache"}})
    cache = stateful_set(selector={"matchLabels": {"app": "cache"}})
    cache = changed(cache, "spec.template.metadata.labels", {"app": "cache"})
    assert unmatched_selectors.check(graph(close, cache)) == []
    assert fields(unmatched_selectors.check(graph(close))) == [("SP506", TERM)]


@pytest.mark.parametrize(
    ("rule", "matches"),
    [
        ({"key": "app", "operator": "In", "values": ["a", "b"]}, True),
        ({"key": "app", "operator": "In", "values": ["b"]}, False),
        ({"key": "app", "operator": "NotIn", "values": ["b"]}, True),
        ({"key": "app", "operator": "NotIn", "values": ["a"]}, False),
        ({"key": "app", "operator": "Exists"}, True),
        ({"key": "tier", "operator": "Exists"}, False),
        ({"key": "tier", "operator": "DoesNotExist"}, True),
        ({"key": "app", "operator": "DoesNotExist"}, False),
    ],
)
def test_expressions_of_a_selector(rule: Json, *, matches: bool) -> None:
    policy = changed(POLICY, "spec.podSelector", {"matchExpressions": [rule]})
    assert (unmatched_selectors.check(graph(policy, stateful_set())) == []) is matches


def test_labels_that_only_the_cluster_sets_are_taken_to_match() -> None:
    assert unmatched_selectors.check(graph(near("cache-0"), stateful_set())) == []
    by_job = service(selector={"batch.kubernetes.io/job-name": "work"})
    assert unmatched_selectors.check(graph(by_job, job())) == []


def test_a_workload_selects_its_own_pods() -> None:
    made = stateful_set(selector={"matchLabels": {"app": "b"}})
    assert fields(selectors.check(objects(made))) == [("SP506", "spec.selector")]
    assert fields(selectors.check(objects(foreign(made)))) == [("SP506", "spec.selector")]


def test_a_claim_that_fits_its_volume() -> None:
    smaller = claim(resources={"requests": {"storage": "1Ti"}}, accessModes=["ReadWriteMany"])
    assert volumes.check(graph(claim(), volume())) == []
    assert volumes.check(graph(smaller, volume())) == []
    assert volumes.check(graph(claim())) == []


@pytest.mark.parametrize(
    ("made", "path", "text"),
    [
        (claim(storageClassName="fast"), "spec.storageClassName", 'Found "fast"'),
        (changed(claim(), "spec.storageClassName", GONE), "spec.storageClassName", "no class"),
        (claim(volumeMode="Block"), "spec.volumeMode", 'has "Filesystem"'),
        (claim(accessModes=["ReadWriteOnce"]), "spec.accessModes", "Found ReadWriteOnce"),
        (
            claim(resources={"requests": {"storage": "11Pi"}}),
            "spec.resources.requests.storage",
            "Found 11Pi, but PersistentVolume ml.data has 10Pi",
        ),
        (claim("other"), "spec.volumeName", "reserved for the claim ml/data"),
    ],
)
def test_a_claim_that_would_never_be_bound(made: Json, path: str, text: str) -> None:
    found = volumes.check(graph(made, volume()))
    assert fields(found) == [("SP515", path)]
    assert text in texts(found)


def test_sizes_are_compared_as_amounts() -> None:
    asked = claim(resources={"requests": {"storage": "10240Ti"}})
    assert volumes.check(graph(asked, volume())) == []


def test_two_volumes_with_one_handle() -> None:
    twin = volume("ml.other", csi={"driver": "csi.example.com", "volumeHandle": "ml.data"})
    foreign_driver = volume("ml.third", csi={"driver": "csi.other.com", "volumeHandle": "ml.data"})
    assert fields(volumes.check(graph(volume(), twin, foreign_driver))) == [("SP515", "spec.csi.volumeHandle")]
