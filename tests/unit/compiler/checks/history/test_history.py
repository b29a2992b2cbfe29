"""Checks of the output against the previously written objects."""

from typing import Any

import pytest

from stowplan.compiler.checks.history import immutability, removals, reruns
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.kubernetes.fields import identity
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import RUN_ANNOTATION, ObjectId, SpecId
from tests.unit.compiler.checks.given import (
    GONE,
    SPEC,
    body,
    changed,
    claim,
    config_map,
    definition,
    fields,
    graph,
    job,
    objects,
    output,
    role_binding,
    service,
    stateful_set,
    texts,
    volume,
)


def earlier(*made: Json) -> dict[ObjectId, Json]:
    return {identity(each): each for each in made}


def after(old: Json, new: Json) -> list[ObjectFinding]:
    return immutability.check(objects(new), earlier(old))


DEPLOYMENT = body("Deployment", "a", api="apps/v1", spec={"selector": {"matchLabels": {"app": "a"}}, "replicas": 1})
STORAGE_CLASS = body(
    "StorageClass", "a", api="storage.k8s.io/v1", namespace="", provisioner="p", allowVolumeExpansion=True
)
PRIORITY_CLASS = body("PriorityClass", "a", api="scheduling.k8s.io/v1", namespace="", value=1, description="a")
INDEXED = job(completionMode="Indexed", completions=2, parallelism=2)
FIXED_MAP = {**config_map(size="1"), "immutable": True}
FIXED_SECRET = body("Secret", "a", data={"key": "c2VjcmV0"}, immutable=True)
SECRET = body("Secret", "a", data={"key": "c2VjcmV0"}, type="Opaque")
BALANCED = service(type="LoadBalancer", loadBalancerClass="a.example/b")
QUOTA = body("ResourceQuota", "a", spec={"hard": {"pods": "1"}, "scopes": ["Terminating"]})
ATTRIBUTES = body(
    "VolumeAttributesClass",
    "a",
    api="storage.k8s.io/v1",
    namespace="",
    driverName="a.example",
    parameters={"speed": "1"},
)
CSI_DRIVER = body("CSIDriver", "a.example", api="storage.k8s.io/v1", namespace="", spec={"attachRequired": False})
PLACED = changed(volume(), "spec.nodeAffinity", {"required": {}})
GROWING = claim(storageClassName="fast")

IMMUTABLE = [
    (volume(), "spec.csi.volumeHandle", "other"),
    (volume(), "spec.csi.volumeAttributes", {"a": "b"}),
    (volume(), "spec.volumeMode", "Block"),
    (PLACED, "spec.nodeAffinity", {"required": {"nodeSelectorTerms": []}}),
    (PLACED, "spec.nodeAffinity", GONE),
    (claim(), "spec.resources.limits", {"storage": "20Pi"}),
    (claim(), "spec.accessModes", ["ReadWriteOnce"]),
    (claim(), "spec.storageClassName", "fast"),
    (claim(), "spec.volumeName", "other"),
    (claim(), "spec.volumeMode", "Block"),
    (claim(), "spec.selector", {"matchLabels": {"a": "b"}}),
    (stateful_set(), "spec.serviceName", "other"),
    (stateful_set(), "spec.selector.matchLabels.app", "b"),
    (stateful_set(), "spec.podManagementPolicy", "Parallel"),
    (stateful_set(), "spec.volumeClaimTemplates", [{}]),
    (job(), "spec.template.spec.containers.0.image", "local/agent:2.0"),
    (job(), "spec.completionMode", "Indexed"),
    (job(), "spec.podFailurePolicy", {"rules": []}),
    (job(), "spec.backoffLimitPerIndex", 1),
    (job(), "spec.completions", 3),
    (INDEXED, "spec.completions", 3),
    (service(), "spec.clusterIP", GONE),
    (role_binding(), "roleRef.name", "other"),
    (definition(), "spec.scope", "Cluster"),
    (definition(), "spec.names.kind", "Other"),
    (DEPLOYMENT, "spec.selector.matchLabels.app", "b"),
    (STORAGE_CLASS, "parameters", {"a": "b"}),
    (STORAGE_CLASS, "volumeBindingMode", "WaitForFirstConsumer"),
    (PRIORITY_CLASS, "value", 2),
    (FIXED_MAP, "data.size", "2"),
    (FIXED_MAP, "immutable", GONE),
    (FIXED_SECRET, "data.key", "b3RoZXI="),
    (FIXED_SECRET, "stringData", {"key": "other"}),
    (SECRET, "type", "example.com/other"),
    (QUOTA, "spec.scopes", ["NotTerminating"]),
    (QUOTA, "spec.scopes", GONE),
    (BALANCED, "spec.loadBalancerClass", "a.example/c"),
    (BALANCED, "spec.loadBalancerClass", GONE),
    (BALANCED, "spec.healthCheckNodePort", 30999),
    (body("EndpointSlice", "a", api="discovery.k8s.io/v1", addressType="IPv4"), "addressType", "IPv6"),
    (body("RuntimeClass", "a", api="node.k8s.io/v1", namespace="", handler="a"), "handler", "b"),
    (ATTRIBUTES, "driverName", "other.example"),
    (ATTRIBUTES, "parameters.speed", "2"),
    (CSI_DRIVER, "spec.attachRequired", True),
]
MUTABLE = [
    (volume(), "spec.mountOptions", ["cache-size=1"]),
    (volume(), "spec.capacity.storage", "20Pi"),
    (volume(), "spec.persistentVolumeReclaimPolicy", "Delete"),
    (volume(), "spec.volumeMode", "Filesystem"),
    (volume(), "spec.nodeAffinity", {"required": {}}),
    (GROWING, "spec.resources.requests.storage", "20Pi"),
    (claim(), "spec.resources.requests.storage", "10240Ti"),
    (claim(), "metadata.labels", {"a": "b"}),
    (stateful_set(), "spec.replicas", 5),
    (stateful_set(), "spec.template.spec.containers.0.image", "local/agent:2.0"),
    (stateful_set(updateStrategy={"type": "OnDelete"}), "spec.updateStrategy.type", "RollingUpdate"),
    (stateful_set(updateStrategy={"type": "RollingUpdate"}), "spec.updateStrategy.type", "OnDelete"),
    (stateful_set(), "spec.podManagementPolicy", "OrderedReady"),
    (job(), "spec.parallelism", 2),
    (job(), "spec.suspend", True),
    (job(), "spec.activeDeadlineSeconds", 1),
    (job(), "spec.backoffLimit", 1),
    (job(), "spec.completionMode", "NonIndexed"),
    (service(), "spec.selector.app", "b"),
    (service(), "spec.ports", [{"port": 1}]),
    (role_binding(), "subjects", []),
    (definition(), "spec.versions.0.schema.openAPIV3Schema.description", "new"),
    (DEPLOYMENT, "spec.replicas", 2),
    (STORAGE_CLASS, "allowVolumeExpansion", False),
    (STORAGE_CLASS, "reclaimPolicy", "Delete"),
    (PRIORITY_CLASS, "description", "b"),
    (SECRET, "data.key", "b3RoZXI="),
    (QUOTA, "spec.hard.pods", "2"),
    (service(type="LoadBalancer"), "spec.loadBalancerClass", "a.example/b"),
    (CSI_DRIVER, "spec.podInfoOnMount", True),
    (config_map(size="1"), "data.size", "2"),
    (body("CronJob", "a", api="batch/v1", spec={"schedule": "0 * * * *"}), "spec.schedule", "1 * * * *"),
]


def name(case: Any) -> str | None:
    return case["kind"] if isinstance(case, dict) and "kind" in case else None


@pytest.mark.parametrize(("made", "path", "value"), IMMUTABLE, ids=name)
def test_a_field_that_may_not_change(made: Json, path: str, value: Any) -> None:
    found = after(made, changed(made, path, value))
    expected = path.replace(".0.", "[0].")
    assert len(found) == 1
    assert fields(found)[0][0] == "SP540"
    assert fields(found)[0][1].startswith(expected)


@pytest.mark.parametrize(("made", "path", "value"), MUTABLE, ids=name)
def test_a_field_that_may_change(made: Json, path: str, value: Any) -> None:
    assert after(made, changed(made, path, value)) == []


def test_an_elastic_indexed_job_grows_in_both_numbers() -> None:
    bigger = changed(changed(INDEXED, "spec.completions", 3), "spec.parallelism", 3)
    assert after(INDEXED, bigger) == []
    fewer_at_a_time = changed(INDEXED, "spec.parallelism", 1)
    assert after(fewer_at_a_time, changed(fewer_at_a_time, "spec.completions", 1)) == []


def test_the_finding_has_both_values_and_the_way_out() -> None:
    found = after(claim(), changed(claim(), "spec.volumeName", "other"))
    assert '"ml.data"' in texts(found)
    assert '"other"' in texts(found)
    assert "give the spec a new name" in texts(found)


def test_values_of_a_secret_are_not_shown() -> None:
    found = after(FIXED_SECRET, changed(FIXED_SECRET, "data.key", "b3RoZXI="))
    assert "c2VjcmV0" not in texts(found)
    assert "b3RoZXI" not in texts(found)


def test_a_claim_that_shrinks() -> None:
    found = after(claim(), changed(claim(), "spec.resources.requests.storage", "9Pi"))
    assert fields(found) == [("SP540", "spec.resources.requests.storage")]
    assert "from 10Pi to 9Pi" in texts(found)


def test_a_claim_without_a_class_cannot_grow() -> None:
    found = after(claim(), changed(claim(), "spec.resources.requests.storage", "20Pi"))
    assert fields(found) == [("SP540", "spec.resources.requests.storage")]
    assert "from 10Pi to 20Pi" in texts(found)


@pytest.mark.parametrize(
    ("made", "path", "value"),
    [(stateful_set(), "spec.updateStrategy.type", "OnDelete"), (DEPLOYMENT, "spec.strategy.type", "Recreate")],
    ids=name,
)
def test_a_strategy_with_defaults_of_the_server_cannot_change(made: Json, path: str, value: str) -> None:
    found = after(made, changed(made, path, value))
    assert fields(found) == [("SP540", path)]
    assert "rollingUpdate` and sync it" in texts(found)
    written = changed(made, path.replace(".type", ".rollingUpdate"), {"maxUnavailable": 1})
    assert after(written, changed(made, path, value)) == []


def test_crd_storage_version_cannot_be_removed() -> None:
    renamed = changed(definition(), "spec.versions.0.name", "v2")
    assert fields(after(definition(), renamed)) == [("SP540", "spec.versions")]


def test_an_object_of_another_name_is_another_object() -> None:
    assert after(claim("old"), claim(accessModes=["ReadWriteOnce"])) == []


def test_a_mangled_committed_object_causes_no_crash() -> None:
    for mangled in ({}, {"spec": 3}, {"spec": None}, {"spec": {"resources": {"requests": {"storage": None}}}}):
        old = {identity(claim()): mangled}
        immutability.check(objects(claim()), old)
        removals.check(graph(), old, Severity.WARNING)
        reruns.check(graph(), [], old, Severity.WARNING)


def test_a_mangled_quantity_causes_no_crash() -> None:
    old = changed(claim(), "spec.resources.requests.storage", "much")
    assert after(old, claim()) == []


LABELS = {labels.SPEC_KIND: "SampleSet", labels.SPEC_NAME: "imagenet"}


def labelled(made: Json) -> Json:
    return changed(made, "metadata.labels", LABELS)


def test_a_removed_volume_and_claim_are_one_finding() -> None:
    old = earlier(labelled(claim()), labelled(volume()), job())
    found = removals.check(graph(), old, Severity.WARNING)
    assert [each.object.kind for each in found] == ["PersistentVolumeClaim"]
    assert "It and PersistentVolume ml.data are no longer compiled" in texts(found)
    assert {(each.found.code, each.found.severity, each.spec) for each in found} == {("SP541", Severity.WARNING, SPEC)}
    assert removals.check(graph(claim(), volume()), old, Severity.WARNING) == []


def test_a_volume_that_its_spec_did_not_retain_may_go() -> None:
    notes = {labels.SYNC_OPTIONS: labels.REMOVE}
    old = earlier(*(changed(labelled(each), "metadata.annotations", notes) for each in (claim(), volume())))
    assert removals.check(graph(), old, Severity.WARNING) == []


def test_a_removal_can_be_an_error_with_a_way_to_confirm_it() -> None:
    found = removals.check(graph(), earlier(claim()), Severity.ERROR)
    assert [each.found.severity for each in found] == [Severity.ERROR]
    assert found[0].spec is None
    assert "To confirm the removal, delete their files" in texts(found)


def run(suffix: str, stem: str = "imagenet-sync", *, spec: SpecId = SPEC) -> Json:
    made = changed(job(f"{stem}-{suffix}"), "metadata.labels", {**LABELS, labels.SPEC_NAME: spec.name})
    return changed(made, "metadata.namespace", spec.namespace)


def resource(mark: str = "", *, spec: SpecId = SPEC) -> Json:
    made = body(spec.kind, spec.name, api="batch.paddlepaddle.org/v1alpha1", namespace=spec.namespace)
    return changed(made, "metadata.annotations", {RUN_ANNOTATION: mark} if mark else {})


OLD, NEW = "abcdefg2", "hijklmn3"


def rerun(*new: Json, old: dict[ObjectId, Json], severity: Severity = Severity.WARNING) -> list[ObjectFinding]:
    made = [output(each, run=True) for each in new]
    return reruns.check(graph(*made), [tuple(reruns.new_runs(SPEC, objects(*made), old))], old, severity)


def test_a_job_under_another_hash_replaces_the_run() -> None:
    found = rerun(run(NEW), resource(), old=earlier(run(OLD), resource()))
    assert fields(found) == [("SP542", "metadata.name")]
    assert f"takes the place of imagenet-sync-{OLD}" in texts(found)
    assert found[0].spec == SPEC


TASK = SpecId("DatasetTask", "ml", "work")
JOB_OF_OLD = SpecId("SampleJob", "ml", "work")


@pytest.mark.parametrize(
    ("spec", "fields", "severity"),
    [
        (TASK, {"remove": {"paths": ["old"]}}, Severity.ERROR),
        (TASK, {"evict": {}}, Severity.ERROR),
        (TASK, {"sync": {"delete": True}}, Severity.ERROR),
        (TASK, {"sync": {"delete": False}}, Severity.WARNING),
        (TASK, {"warmup": {}}, Severity.WARNING),
        (TASK, {"copy": {"to": {"claim": {"name": "archive"}}}}, Severity.WARNING),
        (JOB_OF_OLD, {"type": "clear"}, Severity.ERROR),
        (JOB_OF_OLD, {"type": "rmr"}, Severity.ERROR),
        (JOB_OF_OLD, {"type": "warmup"}, Severity.WARNING),
    ],
)
def test_no_edit_repeats_a_run_that_deletes(spec: SpecId, fields: Json, severity: Severity) -> None:
    """Emptied caches are deleted data too: jobs that read them would wait for the storage."""
    own = {**resource(spec=spec), "spec": fields}
    kind = labels.SPEC_KIND.replace(".", "~")
    jobs = [changed(run(each, spec=spec), f"metadata.labels.{kind}", spec.kind) for each in (OLD, NEW)]
    old, made = earlier(jobs[0], own), [output(each, run=True) for each in (jobs[1], own)]
    found = reruns.check(graph(*made), [tuple(reruns.new_runs(spec, objects(*made), old))], old, Severity.WARNING)
    assert [each.found.severity for each in found] == [severity]


def test_the_same_job_and_a_first_run_are_no_finding() -> None:
    assert rerun(run(OLD), resource(), old=earlier(run(OLD), resource())) == []
    assert rerun(run(NEW), resource(), old={}) == []


def test_a_run_of_another_stem_spec_or_namespace_is_not_replaced() -> None:
    others = [
        run(OLD, "imagenet-warmup-0"),
        run(OLD, spec=SpecId("SampleSet", "ml", "other")),
        run(OLD, spec=SpecId("SampleSet", "elsewhere", "imagenet")),
    ]
    assert rerun(run(NEW), resource(), old=earlier(*others, resource())) == []


def test_a_changed_run_annotation_requests_a_new_run() -> None:
    old = earlier(run(OLD), resource("1"))
    assert rerun(run(NEW), resource("2"), old=old) == []
    assert len(rerun(run(NEW), resource("1"), old=old)) == 1
    assert len(rerun(run(NEW), resource("1"), old=earlier(run(OLD)))) == 1


def test_many_jobs_of_a_spec_are_one_finding() -> None:
    stems = [f"imagenet-warmup-{number}" for number in range(3)]
    found = rerun(*(run(NEW, stem) for stem in stems), old=earlier(*(run(OLD, stem) for stem in stems)))
    assert len(found) == 1
    assert "and 2 more of this spec" in texts(found)


def test_a_replaced_run_can_be_an_error() -> None:
    found = rerun(run(NEW), old=earlier(run(OLD)), severity=Severity.ERROR)
    assert [each.found.severity for each in found] == [Severity.ERROR]
