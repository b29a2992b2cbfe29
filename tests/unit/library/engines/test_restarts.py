"""Jobs that start again as a whole: what each end of a pod leads to, by the rules of Kubernetes and JobSet 0.12.

`tests/cluster/test_restarts.py` shows the same on the real controllers.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.library.ir.restart import all_but
from tests.repositories import Result, compiled

Json = dict[str, Any]
PLATFORM: Json = {"kind": "Platform", "defaultNamespace": "ml", "engines": {"jobs": "jobset"}}
MAIN: Json = {"template": {"spec": {"containers": [{"name": "main", "image": "r/train:1"}]}}}
MXNET: Json = {"spec": {"containers": [{"name": "mxnet", "image": "r/mx:1"}], "restartPolicy": "OnFailure"}}


def training(**fields: Any) -> Json:
    spec = {"framework": "torch", "image": "r/train:1", "numNodes": 2, **fields}
    return {"apiVersion": "stowplan.dev/v1alpha1", "kind": "Training", "metadata": {"name": "x"}, "spec": spec}


def legacy(api: str, kind: str, restarts: str | None = "3", **spec: Any) -> Json:
    annotations = {} if restarts is None else {"stowplan.dev/restarts": restarts}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "x", "annotations": annotations}, "spec": spec}


def paddle(restarts: str | None = "3", **spec: Any) -> Json:
    given = {"worker": {"replicas": 2, **MAIN}, **spec}
    return legacy("batch.paddlepaddle.org/v1", "PaddleJob", restarts, **given)


def old_paddle(restarts: str | None = "3", **spec: Any) -> Json:
    roles = {role: {"entrypoint": "run", "min-instance": 2, "max-instance": 2} for role in ("trainer", "pserver")}
    return legacy("paddlepaddle.org/v1alpha1", "TrainingJob", restarts, **{"image": "r/train:1", **roles, **spec})


def mxnet(restarts: str | None = "3") -> Json:
    roles = [{"mxReplicaType": role, "template": MXNET} for role in ("SCHEDULER", "SERVER", "WORKER")]
    return legacy("mxnet.mlkube.io/v1beta1", "MxJob", restarts, jobMode="dist", replicaSpecs=roles)


ATTEMPT = "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"
"""A label that JobSet 0.12 gives all pods (`labelAndAnnotateObject`): how often the JobSet has started again."""

LEGACY = {
    "PaddleJob": paddle(),
    "PaddleJob with servers": paddle(ps={"replicas": 1, **MAIN}),
    "TrainingJob": old_paddle(),
    "MxJob": mxnet(),
}


def result(folder: Path, spec: Json, **platform: Any) -> Result:
    return compiled(folder, {"specs.yaml": yaml.safe_dump_all([{**PLATFORM, **platform}, spec])})


def job_set(folder: Path, spec: Json, **platform: Any) -> Json:
    found = result(folder, spec, **platform)
    assert found.errors == []
    (made,) = (each.manifest.body for each in found.outputs if each.manifest.body["kind"] == "JobSet")
    return made


def told(found: Result) -> dict[str, str]:
    """The findings about restarts: where, by code."""
    codes = ("SP206", "SP406", "SP438", "SP467", "SP711", "SP712", "SP713", "SP714", "SP715")
    return {each.code: each.field_path for each in found.diagnostics if each.code in codes}


def follows(made: Json, code: int = 0, *, container: str = "trainer", lost: bool = False, role: int = 0) -> str:
    """What JobSet does after a pod of a role ended: `restart`, `free` or `end`."""
    job = made["spec"]["replicatedJobs"][role]["template"]["spec"]
    assert job["backoffLimit"] == 0
    assert job["template"]["spec"]["restartPolicy"] == "Never"
    reason, message = "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    for index, rule in enumerate(job["podFailurePolicy"]["rules"]):
        assert rule["action"] == "FailJob"
        codes = rule.get("onExitCodes") or {}
        if lost and "onPodConditions" in rule:
            reason = "PodFailurePolicy"
            message = f"Pod ml/x-0 has condition DisruptionTarget matching FailJob rule at index {index}"
            break
        if codes.get("containerName") == container and code in codes["values"]:
            reason = "PodFailurePolicy"
            message = (
                f"Container {container} for pod ml/x failed with exit code {code} matching FailJob rule at index 1"
            )
            break
    for rule in made["spec"]["failurePolicy"]["rules"]:
        patterns = rule.get("onJobFailureMessagePatterns", [""])
        if reason in rule["onJobFailureReasons"] and any(re.search(each, message) for each in patterns):
            return {"FailJobSet": "end", "RestartJobSetAndIgnoreMaxRestarts": "free"}[rule["action"]]
    return "restart"


FRAMEWORKS: dict[str, dict[int, str]] = {
    "torch": {1: "restart", 2: "end", 3: "restart", 126: "end", 127: "end", 137: "restart"},
    "none": {1: "restart", 2: "end", 3: "restart", 126: "end", 127: "end", 137: "restart"},
    "jax": {1: "end", 2: "end", 127: "end", 128: "restart", 134: "restart", 255: "restart"},
    "xgboost": {1: "end", 2: "end", 127: "end", 128: "restart", 137: "restart"},
    "paddle": {1: "end", 2: "end", 127: "end", 128: "restart", 143: "restart"},
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_exit_codes_of_the_framework_end_or_restart_the_job(tmp_path: Path, framework: str) -> None:
    made = job_set(tmp_path, training(framework=framework, restart={"max": 3}))
    assert made["spec"]["failurePolicy"]["maxRestarts"] == 3
    assert {code: follows(made, code) for code in FRAMEWORKS[framework]} == FRAMEWORKS[framework]


@pytest.mark.parametrize(
    ("codes", "ends"),
    [
        ({"failOn": [137, 3, 3]}, {1: "restart", 2: "restart", 3: "end", 137: "end"}),
        ({"failOn": []}, {1: "restart", 2: "restart", 127: "restart", 137: "restart"}),
        ({"retryOn": [42]}, {1: "end", 42: "restart", 43: "end", 128: "restart"}),
        ({"retryOn": []}, {1: "end", 127: "end", 128: "restart"}),
    ],
)
def test_the_users_exit_codes_take_the_place_of_the_frameworks(
    tmp_path: Path, codes: Json, ends: dict[int, str]
) -> None:
    made = job_set(tmp_path, training(restart={"max": 3, **codes}))
    assert {code: follows(made, code) for code in ends} == ends


def test_a_lost_pod_is_free_whatever_its_exit_code(tmp_path: Path) -> None:
    made = job_set(tmp_path, training(restart={"max": 0}))
    assert {code: follows(made, code, lost=True) for code in (0, 1, 2, 143)} == dict.fromkeys((0, 1, 2, 143), "free")
    assert made["spec"]["failurePolicy"]["maxRestarts"] == 0


def test_the_deadline_ends_the_job(tmp_path: Path) -> None:
    made = job_set(tmp_path, training(restart={"max": 3}, activeDeadlineSeconds=60))
    assert made["spec"]["replicatedJobs"][0]["template"]["spec"]["activeDeadlineSeconds"] == 60
    (final,) = (each for each in made["spec"]["failurePolicy"]["rules"] if each["action"] == "FailJobSet")
    assert "DeadlineExceeded" in final["onJobFailureReasons"]


WAIT: Json = {"sampleSetRef": {"name": "data", "mountPath": "/data", "wait": {"until": "mounted"}}}


def test_a_wait_that_failed_for_good_ends_the_job(tmp_path: Path) -> None:
    data = legacy("batch.paddlepaddle.org/v1alpha1", "SampleSet", None, secretRef={"name": "s"}, noSync=True)
    data["metadata"]["name"] = "data"
    data["spec"]["partitions"] = 1
    found = compiled(tmp_path, {"specs.yaml": yaml.safe_dump_all([PLATFORM, data, paddle(**WAIT)])})
    (made,) = (each.manifest.body for each in found.outputs if each.manifest.body["kind"] == "JobSet")
    ends = {2: "restart", 3: "restart", 4: "end", 5: "restart", 10: "restart", 12: "end", 143: "restart"}
    assert {code: follows(made, code, container="wait-dataset") for code in ends} == ends


def test_code_that_can_never_be_fetched_ends_the_job(tmp_path: Path) -> None:
    code = {"git": {"url": "https://git.example.com/ml/sft.git", "ref": "a" * 40}, "mountPath": "/workspace"}
    made = job_set(tmp_path, training(code=code, restart={"max": 3}))
    ends = {2: "end", 3: "end", 4: "end", 5: "end", 10: "restart", 11: "restart", 12: "restart", 143: "restart"}
    assert {each: follows(made, each, container="fetch-code") for each in ends} == ends


@pytest.mark.parametrize("kind", LEGACY)
def test_the_annotation_restarts_a_job_of_a_legacy_kind(tmp_path: Path, kind: str) -> None:
    made = job_set(tmp_path, LEGACY[kind])
    assert made["spec"]["failurePolicy"]["maxRestarts"] == 3
    for index, role in enumerate(made["spec"]["replicatedJobs"]):
        pod = role["template"]["spec"]["template"]["spec"]
        first = pod["containers"][0]
        ends = {1: "end", 127: "end", 128: "restart", 137: "restart"}
        assert {code: follows(made, code, container=first["name"], role=index) for code in ends} == ends
        assert follows(made, 1, container=first["name"], lost=True, role=index) == "free"
        (attempt,) = (each for each in first["env"] if each["name"] == "STOWPLAN_ATTEMPT")
        assert attempt["valueFrom"]["fieldRef"]["fieldPath"] == ATTEMPT


def test_the_trainer_knows_its_attempt(tmp_path: Path) -> None:
    made = job_set(tmp_path, training(restart={"max": 1}))
    (trainer,) = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
    found = [each for each in trainer["env"] if each["name"] == "STOWPLAN_ATTEMPT"]
    assert [each["valueFrom"]["fieldRef"]["fieldPath"] for each in found] == [ATTEMPT]


def test_grace_is_that_of_the_pods_unless_the_template_says_otherwise(tmp_path: Path) -> None:
    own = {"spec": {"terminationGracePeriodSeconds": 5}}
    for seconds, more in {0: {}, 5: {"template": own}}.items():
        folder = tmp_path / str(seconds)
        folder.mkdir()
        made = job_set(folder, training(restart={"max": 1, "graceSeconds": 0}, **more))
        pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        assert pod["terminationGracePeriodSeconds"] == seconds


@pytest.mark.parametrize("spec", [training(restart={"max": 1}), *LEGACY.values()])
def test_jobs_of_kubernetes_alone_do_not_restart(tmp_path: Path, spec: Json) -> None:
    found = result(tmp_path, spec, engines={"jobs": "core"})
    (error,) = found.errors
    assert error.code == "SP467"
    assert "`engines.jobs: jobset`" in (error.hint)


def test_the_loop_of_free_restarts_is_warned_about(tmp_path: Path) -> None:
    assert told(result(tmp_path, training(restart={"max": 1}))) == {"SP712": "spec.restart"}


@pytest.mark.parametrize(("gang", "code"), [("none", "SP713"), ("volcano", "SP713"), ("kueue", None)])
def test_a_deadline_for_each_attempt_is_told(tmp_path: Path, gang: str, code: str | None) -> None:
    spec = training(restart={"max": 1}, activeDeadlineSeconds=60)
    engines = {"jobs": "jobset", "gang": gang, **({"queue": "default"} if gang == "kueue" else {})}
    assert told(result(tmp_path, spec, engines=engines)) == ({code: "spec.restart"} if code else {})


@pytest.mark.parametrize("engines", [{}, {"gang": "kueue", "queue": "default"}])
def test_walltime_is_the_deadline_of_each_attempt_of_a_training_job(tmp_path: Path, engines: Json) -> None:
    spec = old_paddle(annotations={"walltime": 60})
    (found,) = (
        each
        for each in result(tmp_path, spec, engines={"jobs": "jobset", **engines}).diagnostics
        if each.code in ("SP712", "SP713")
    )
    assert (found.code, found.hint) == ("SP713", "All attempts together may take longer.")


@pytest.mark.parametrize(
    "spec",
    [
        training(restart={"max": 1}, elastic={"min": 1, "max": 2}, activeDeadlineSeconds=1),
        old_paddle(fault_tolerant=True, annotations={"walltime": 60}),
    ],
)
def test_a_job_whose_pods_are_replaced_does_not_restart(tmp_path: Path, spec: Json) -> None:
    assert [each.code for each in result(tmp_path, spec).errors] == ["SP714"]


def test_restarts_need_the_reporter(tmp_path: Path) -> None:
    found = result(tmp_path, training(restart={"max": 1}), reporter=False)
    assert [each.code for each in found.errors] == ["SP715"]


def test_two_lists_of_exit_codes_are_refused(tmp_path: Path) -> None:
    found = result(tmp_path, training(restart={"max": 1, "failOn": [1], "retryOn": [2]}))
    assert [(each.code, each.field_path) for each in found.errors] == [("SP711", "spec.restart.retryOn")]


@pytest.mark.parametrize("given", ["", "-1", "1.5", "many", "01", "9999999999"])
@pytest.mark.parametrize("make", [paddle, old_paddle, mxnet])
def test_an_annotation_that_is_no_number_is_refused(tmp_path: Path, make: Any, given: str) -> None:
    assert [each.code for each in result(tmp_path, make(given)).errors] == ["SP206"]


@pytest.mark.parametrize(
    ("fields", "warned"),
    [
        ({"framework": "xgboost"}, True),
        ({"framework": "xgboost", "numNodes": 1}, False),
        ({"framework": "xgboost", "restart": {"max": 1, "retryOn": [1]}}, False),
        ({"framework": "torch"}, False),
        ({"framework": "torch", "restart": {"max": 1, "failOn": [1]}}, True),
        ({"framework": "jax"}, False),
        ({"framework": "paddle"}, False),
        ({"framework": "none", "restart": {"max": 1, "retryOn": []}}, False),
    ],
)
def test_a_job_that_a_lost_node_ends_is_warned_about(tmp_path: Path, fields: Json, warned: bool) -> None:  # noqa: FBT001
    found = result(tmp_path, training(**{"restart": {"max": 1}, **fields}))
    assert ("SP716" in {each.code for each in found.diagnostics}) == warned


def test_the_annotation_of_other_kinds_has_no_effect_on_a_training(tmp_path: Path) -> None:
    spec = training()
    spec["metadata"]["annotations"] = {"stowplan.dev/restarts": "3"}
    assert set(told(result(tmp_path, spec))) == {"SP406"}


@pytest.mark.parametrize("policy", ["OnFailure", "Always"])
def test_a_restart_policy_of_the_template_has_no_effect(tmp_path: Path, policy: str) -> None:
    spec = training(restart={"max": 1}, template={"spec": {"restartPolicy": policy}}, activeDeadlineSeconds=9)
    found = result(tmp_path, spec)
    assert told(found) == {"SP406": "spec.restart", "SP713": "spec.restart"}


def test_another_number_of_restarts_is_another_run(tmp_path: Path) -> None:
    """JobSet refuses a new failure policy."""
    made = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        made.append(job_set(folder, training(restart={"max": number}))["metadata"]["name"])
    assert made[0] != made[1]


def test_codes_of_signals_are_none_of_a_program() -> None:
    assert all_but((1, 200)) == tuple(range(2, 128))
