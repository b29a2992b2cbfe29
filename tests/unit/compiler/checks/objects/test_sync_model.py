"""The model of Argo CD's sync: order, waves, pruning and waits. Each case states one of Argo CD's rules."""

from typing import Any

import pytest

from tests.sync_model import Gate, Step, SyncPlan, plan

_GROUPS = {
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "StatefulSet": "apps/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
    "SampleSet": "batch.paddlepaddle.org/v1alpha1",
    "Application": "argoproj.io/v1alpha1",
}


def obj(
    kind: str, name: str = "a", *, wave: str = "", hook: str = "", options: str = "", **body: Any
) -> dict[str, Any]:
    annotations = {
        "argocd.argoproj.io/sync-wave": wave,
        "argocd.argoproj.io/hook": hook,
        "argocd.argoproj.io/sync-options": options,
    }
    metadata: dict[str, Any] = {"name": name, "annotations": {key: text for key, text in annotations.items() if text}}
    if "namespace" in body:
        metadata["namespace"] = body.pop("namespace")
    return {"apiVersion": _GROUPS.get(kind, "v1"), "kind": kind, "metadata": metadata, **body}


def crd(group: str, kind: str) -> dict[str, Any]:
    return obj("CustomResourceDefinition", kind.lower(), spec={"group": group, "names": {"kind": kind}})


def order(made: SyncPlan) -> list[str]:
    return [f"{'-' if task.prune else ''}{task.kind[1]}/{task.name}" for task in made.tasks]


def holds(made: SyncPlan) -> list[tuple[str, Gate]]:
    return [(f"{hold.task.kind[1]}/{hold.task.name}", hold.gate) for hold in made.holds]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param(
            [obj("Job"), obj("ConfigMap"), obj("Service"), obj("NetworkPolicy")],
            ["NetworkPolicy/a", "ConfigMap/a", "Service/a", "Job/a"],
            id="kinds by rank",
        ),
        pytest.param(
            [obj("SampleSet"), obj("CronJob"), obj("StatefulSet")],
            ["StatefulSet/a", "CronJob/a", "SampleSet/a"],
            id="custom resources last",
        ),
        pytest.param([obj("Secret", "b"), obj("Secret", "a")], ["Secret/a", "Secret/b"], id="names within a kind"),
        pytest.param(
            [obj("ConfigMap", wave="1"), obj("Job"), obj("Job", "early", wave="-1")],
            ["Job/early", "Job/a", "ConfigMap/a"],
            id="wave before kind",
        ),
        pytest.param(
            [obj("ConfigMap", wave="-5"), obj("Job", hook="PreSync", wave="9"), obj("Job", "post", hook="PostSync")],
            ["Job/a", "ConfigMap/a", "Job/post"],
            id="phase before wave",
        ),
        pytest.param(
            [obj("ConfigMap", wave="x"), obj("Secret", wave="-1")], ["Secret/a", "ConfigMap/a"], id="bad wave is 0"
        ),
        pytest.param([obj("Job", hook="Skip"), obj("Job", "b")], ["Job/b"], id="skipped hooks are no tasks"),
        pytest.param([obj("Job", hook="Presync")], [], id="unknown hooks are silently left out"),
        pytest.param(
            [obj("Namespace", "ml", wave="3"), obj("ConfigMap", namespace="ml"), obj("Secret", namespace="other")],
            ["Secret/a", "Namespace/ml", "ConfigMap/a"],
            id="a namespace bubbles before its first object",
        ),
        pytest.param(
            [crd("batch.paddlepaddle.org", "SampleSet"), obj("SampleSet", wave="-2"), obj("ConfigMap", wave="-3")],
            ["ConfigMap/a", "CustomResourceDefinition/sampleset", "SampleSet/a"],
            id="a CRD bubbles before its first object",
        ),
        pytest.param(
            [crd("example.com", "SampleSet"), obj("SampleSet", wave="-2")],
            ["SampleSet/a", "CustomResourceDefinition/sampleset"],
            id="a CRD of another group does not",
        ),
    ],
)
def test_order(objects: list[dict[str, Any]], expected: list[str]) -> None:
    assert order(plan(objects)) == expected
    assert order(plan(reversed(objects))) == expected


def test_a_namespace_takes_the_wave_of_the_object_that_needs_it() -> None:
    made = plan([obj("Namespace", "ml", wave="3"), obj("ConfigMap", namespace="ml", wave="-1")])
    assert [(step.phase, step.wave) for step in made.steps] == [("Sync", -1)]


def test_prunes_come_first_in_their_wave_and_mirror_the_order_of_creation() -> None:
    old = [obj("Role", "old", wave="-1"), obj("StatefulSet", "old")]
    made = plan([obj("Role", wave="-1"), obj("StatefulSet")], old)
    assert order(made) == ["-StatefulSet/old", "Role/a", "-Role/old", "StatefulSet/a"]


def test_protected_objects_are_not_pruned() -> None:
    assert order(plan([], [obj("PersistentVolumeClaim", options="Prune=false,Delete=false")])) == []


@pytest.mark.parametrize("whole_application", [True, False])
def test_prune_last_adds_a_wave_that_makes_the_jobs_wave_a_gated_one(*, whole_application: bool) -> None:
    old = obj("ConfigMap", "old", options="" if whole_application else "PruneLast=true")
    made = plan([obj("Role", wave="-1"), obj("Job")], [old], prune_last=whole_application)
    assert order(made) == ["Role/a", "Job/a", "-ConfigMap/old"]
    assert holds(made) == [("Job/a", Gate.COMPLETION)]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([obj("Job"), obj("StatefulSet"), obj("SampleSet")], [], id="one wave never waits"),
        pytest.param([obj("Job"), obj("Role", wave="-1"), obj("ConfigMap", wave="-1")], [], id="no health, no wait"),
        pytest.param([obj("Job", wave="-1"), obj("Role")], [("Job/a", Gate.COMPLETION)], id="a Job in an earlier wave"),
        pytest.param(
            [obj("Job", wave="-1", spec={"suspend": True}), obj("Role")],
            [("Job/a", Gate.COMPLETION)],
            id="a suspended Job never completes",
        ),
        pytest.param(
            [obj("PersistentVolumeClaim", wave="-1"), obj("StatefulSet")],
            [("PersistentVolumeClaim/a", Gate.HEALTH)],
            id="a claim before its first consumer",
        ),
        pytest.param([obj("PersistentVolumeClaim"), obj("StatefulSet")], [], id="a claim beside its first consumer"),
        pytest.param(
            [obj("StatefulSet"), obj("Secret", wave="1")],
            [("StatefulSet/a", Gate.HEALTH)],
            id="pods before the Secret that they need",
        ),
        pytest.param(
            [obj("PodDisruptionBudget", wave="-1"), obj("StatefulSet")],
            [("PodDisruptionBudget/a", Gate.HEALTH)],
            id="a budget has a health",
        ),
        pytest.param([obj("Service", wave="-1"), obj("Job")], [], id="a plain Service is done at once"),
        pytest.param(
            [obj("Service", wave="-1", spec={"type": "LoadBalancer"}), obj("Job")],
            [("Service/a", Gate.HEALTH)],
            id="a load balancer waits for its address",
        ),
        pytest.param(
            [obj("SampleSet", wave="-1"), obj("Job")],
            [("SampleSet/a", Gate.HEALTH)],
            id="a custom resource may have a script",
        ),
        pytest.param(
            [obj("Job", hook="PostSync"), obj("Role")], [("Job/a", Gate.COMPLETION)], id="a hook in the last step waits"
        ),
        pytest.param([obj("Application", wave="-1"), obj("Job")], [], id="Applications have no health"),
    ],
)
def test_waiting(objects: list[dict[str, Any]], expected: list[tuple[str, Gate]]) -> None:
    assert holds(plan(objects)) == expected


def test_a_prune_to_be_confirmed_holds_the_whole_sync() -> None:
    made = plan([obj("Job")], [obj("ConfigMap", "old", options="Prune=confirm")])
    assert holds(made) == [("ConfigMap/old", Gate.CONFIRMATION)]


def test_a_hold_names_the_next_step() -> None:
    made = plan([obj("Job", wave="-1"), obj("Role")])
    assert made.holds[0].next_step == Step("Sync", 0, made.steps[1].tasks)


def test_a_sync_of_nothing_has_no_steps() -> None:
    assert plan([]).steps == ()


def test_crd_without_a_spec_bubbles_before_nothing() -> None:
    assert order(plan([obj("CustomResourceDefinition", spec=None), obj("ConfigMap", wave="-1")])) == [
        "ConfigMap/a",
        "CustomResourceDefinition/a",
    ]
