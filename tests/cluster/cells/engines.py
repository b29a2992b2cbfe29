"""Objects of job controllers and schedulers outside Kubernetes. The webhook of JobSet judges JobSets."""

from typing import Any

from stowplan.library.builders.indexed_job import failure_policy
from stowplan.library.ir.restart import Restart
from tests.cluster.client import Manifest
from tests.cluster.edits import METADATA, Row, changes, refused
from tests.unit.compiler.checks.given import body, changed, pod_template

_NO_RULE = "A rule of the CRD compares an old and a new value; one that is taken away is compared with nothing."
_NOT_ADMITTED = "Whether a JobSet is suspended is decided in the cluster, and one of ours gets another name instead."

_API = "jobset.x-k8s.io/v1alpha2"
_TEMPLATE = "spec.replicatedJobs.0.template.spec"
_IMAGE = f"{_TEMPLATE}.template.spec.containers.0.image"
_HELD = {"kwok.stowplan.dev/hold": "true"}


def _role(name: str, size: int) -> Manifest:
    template = changed(pod_template(restartPolicy="OnFailure"), "metadata.annotations", _HELD)
    job = {"backoffLimit": 6, "completionMode": "Indexed", "completions": size, "parallelism": size}
    return {"groupName": "default", "name": name, "replicas": 1, "template": {"spec": {**job, "template": template}}}


def _job_set(name: str, **spec: Any) -> Manifest:
    given = {
        "failurePolicy": {"maxRestarts": 0, "restartStrategy": "Recreate"},
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True, "subdomain": name},
        "replicatedJobs": [_role("ps", 1), _role("worker", 2)],
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "successPolicy": {"operator": "All", "targetReplicatedJobs": ["worker"]},
    }
    return body("JobSet", name, api=_API, spec={**given, **spec})


def _restarting(name: str) -> Manifest:
    """As a job that starts again is compiled."""
    template = changed(pod_template(restartPolicy="Never"), "metadata.annotations", _HELD)
    codes = {"containerName": "main", "operator": "In", "values": [2, 126, 127]}
    rules = [
        {"action": "FailJob", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]},
        {"action": "FailJob", "onExitCodes": codes},
    ]
    job = {"backoffLimit": 0, "completionMode": "Indexed", "completions": 2, "parallelism": 2}
    spec = {**job, "podFailurePolicy": {"rules": rules}, "podReplacementPolicy": "Failed", "template": template}
    return _job_set(
        name,
        failurePolicy=failure_policy(Restart(3, ())),
        replicatedJobs=[{"groupName": "default", "name": "worker", "replicas": 1, "template": {"spec": spec}}],
    )


_SET = _job_set("group")
_RULE = "spec.failurePolicy.rules"
_COORDINATOR = {"replicatedJob": "ps", "jobIndex": 0, "podIndex": 0}


def _resized(size: int) -> list[Manifest]:
    return [_role("ps", 1), _role("worker", size)]


def _pod_group(api: str, name: str, **spec: Any) -> Manifest:
    return body("PodGroup", name, api=api, spec={"minMember": 2, "minResources": {"cpu": "1"}, **spec})


ROWS = {
    "JobSet": Row(
        _SET,
        [
            *METADATA,
            changes("spec.coordinator", to=_COORDINATOR),
            refused("spec.failurePolicy.maxRestarts", to=1),
            refused("spec.failurePolicy.restartStrategy", to="BlockingRecreate"),
            changes("spec.failurePolicy", because=_NO_RULE),
            refused("spec.managedBy", to="kueue.x-k8s.io/multikueue"),
            refused("spec.network.enableDNSHostnames", to=False),
            refused("spec.network.publishNotReadyAddresses", to=False),
            refused("spec.network.subdomain", to="other"),
            refused("spec.replicatedJobs", to=[_role("worker", 2)]),
            refused("spec.replicatedJobs", to=[_role("ps", 1), _role("worker", 2), _role("heter", 1)]),
            refused("spec.replicatedJobs", to=_resized(3)),
            refused("spec.replicatedJobs.0.groupName", to="other"),
            refused("spec.replicatedJobs.1.replicas", to=2),
            refused(f"{_TEMPLATE}.activeDeadlineSeconds", to=1),
            refused(f"{_TEMPLATE}.backoffLimit", to=1),
            refused(f"{_TEMPLATE}.completionMode", to="NonIndexed"),
            refused(f"{_TEMPLATE}.parallelism", to=2),
            refused(f"{_TEMPLATE}.suspend", to=True),
            refused(f"{_TEMPLATE}.template.metadata.labels.a", to="b"),
            refused(f"{_TEMPLATE}.template.metadata.annotations.a", to="b"),
            refused(_IMAGE, to="local/agent:2.0"),
            refused(f"{_TEMPLATE}.template.spec.nodeSelector", to={"a": "b"}),
            refused(f"{_TEMPLATE}.template.spec.tolerations", to=[{"operator": "Exists"}]),
            refused("spec.startupPolicy.startupPolicyOrder", to="InOrder"),
            refused("spec.successPolicy.operator", to="Any"),
            refused("spec.successPolicy.targetReplicatedJobs", to=["ps"]),
            changes("spec.suspend", to=True),
            changes("spec.ttlSecondsAfterFinished", to=60),
        ],
    ),
    "JobSet that restarts": Row(
        _restarting("restarting"),
        [
            refused("spec.failurePolicy.maxRestarts", to=4),
            refused("spec.failurePolicy.restartStrategy", to="Recreate"),
            refused(_RULE, to=[]),
            refused(f"{_RULE}.0.action", to="RestartJobSet"),
            refused(f"{_RULE}.0.onJobFailureMessagePatterns", to=["DisruptionTarget"]),
            refused(f"{_RULE}.1.onJobFailureReasons", to=["PodFailurePolicy"]),
            refused(f"{_TEMPLATE}.podFailurePolicy.rules.1.onExitCodes.values", to=[2]),
            refused(f"{_TEMPLATE}.podFailurePolicy.rules.0.action", to="Ignore"),
            refused(f"{_TEMPLATE}.template.spec.terminationGracePeriodSeconds", to=60),
        ],
    ),
    "JobSet that waits": Row(
        _job_set("queued", suspend=True),
        [
            changes("spec.suspend", to=False),
            changes(f"{_TEMPLATE}.template.metadata.labels.a", to="b", because=_NOT_ADMITTED),
            changes(f"{_TEMPLATE}.template.metadata.annotations.a", to="b", because=_NOT_ADMITTED),
            changes(f"{_TEMPLATE}.template.spec.nodeSelector", to={"a": "b"}, because=_NOT_ADMITTED),
            changes(f"{_TEMPLATE}.template.spec.tolerations", to=[{"operator": "Exists"}], because=_NOT_ADMITTED),
            refused(_IMAGE, to="local/agent:2.0"),
            refused(f"{_TEMPLATE}.parallelism", to=2),
        ],
    ),
    "PodGroup of Volcano": Row(
        _pod_group("scheduling.volcano.sh/v1beta1", "placed", queue="default", priorityClassName="a"),
        [
            *METADATA,
            changes("spec.minMember", to=3),
            changes("spec.minResources.cpu", to="2"),
            changes("spec.minResources"),
            changes("spec.priorityClassName", to="b"),
            changes("spec.queue", to="other"),
        ],
    ),
    "PodGroup of coscheduling": Row(
        _pod_group("scheduling.x-k8s.io/v1alpha1", "waited-for", scheduleTimeoutSeconds=60),
        [
            *METADATA,
            changes("spec.minMember", to=3),
            changes("spec.minResources.cpu", to="2"),
            changes("spec.scheduleTimeoutSeconds", to=120),
        ],
    ),
}
