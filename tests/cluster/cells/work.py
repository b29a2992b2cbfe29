"""Objects that create pods, and objects with rules about pods."""

from tests.cluster.client import Manifest
from tests.cluster.edits import METADATA, Row, changes, refused, stays
from tests.unit.compiler.checks.given import body, changed, claim, job, pod_template

_STARTED = "Whether a Job was ever started stands in the cluster, and one of ours gets another name instead."
_AT_BIRTH = "It has an effect only when the Job is made."

_HELD = {"kwok.stowplan.dev/hold": "true"}
"""As annotations of a Job's pods: the Job does not end while the tests look at it."""
_SELECTOR = {"matchLabels": {"app": "a"}}
_NARROWER = {"matchLabels": {"app": "a", "b": "c"}}
_IGNORE_DISRUPTION = {
    "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
}
_IMAGE = "spec.template.spec.containers.0.image"
_EXIT_CODES = {
    "rules": [{"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [1]}}]
}
_ROLL_ALL = {"rollingUpdate": {"maxUnavailable": 1}}
_ROLL_SOME = {"rollingUpdate": {"partition": 1}}


def _job(name: str, **spec: object) -> Manifest:
    made = job(name, **{"backoffLimit": 6, "completions": 1, "parallelism": 1, **spec})
    return changed(made, "spec.template.metadata.annotations", _HELD)


def _workload(kind: str, name: str, **spec: object) -> Manifest:
    """Its pods have a label more than its selector asks for."""
    template = changed(pod_template(), "metadata.labels", {"app": "a", "b": "c"})
    return body(kind, name, api="apps/v1", spec={"selector": _SELECTOR, "template": template, **spec})


def _stateful_set(name: str, **spec: object) -> Manifest:
    return _workload("StatefulSet", name, serviceName="cache", replicas=0, **spec)


JOBS = {
    "Job": Row(
        _job("running", podFailurePolicy=_IGNORE_DISRUPTION),
        [
            *METADATA,
            changes("spec.activeDeadlineSeconds", to=3600),
            changes("spec.backoffLimit", to=1),
            refused("spec.completionMode", to="Indexed"),
            stays("spec.completionMode", to="NonIndexed"),
            refused("spec.completions", to=2),
            refused("spec.managedBy", to="example.com/other"),
            changes("spec.manualSelector", to=True, because=_AT_BIRTH),
            changes("spec.parallelism", to=2),
            refused("spec.podFailurePolicy"),
            refused("spec.podFailurePolicy.rules.0.action", to="Count"),
            stays("spec.podReplacementPolicy", to="Failed"),
            changes("spec.suspend", to=True),
            refused("spec.template.metadata.labels.a", to="b"),
            refused(_IMAGE, to="local/agent:2.0"),
            refused("spec.template.spec.nodeSelector", to={"a": "b"}),
            refused("spec.template.spec.serviceAccountName", to="a"),
            refused("spec.template.spec.tolerations", to=[{"operator": "Exists"}]),
            changes("spec.ttlSecondsAfterFinished", to=60),
        ],
        until="status.startTime",
    ),
    "Job without a failure policy": Row(
        _job("plain"),
        [refused("spec.podFailurePolicy", to=_IGNORE_DISRUPTION), changes("spec.podReplacementPolicy", to="Failed")],
    ),
    "Job with a deadline": Row(
        _job("bounded", activeDeadlineSeconds=3600, ttlSecondsAfterFinished=60),
        [
            changes("spec.activeDeadlineSeconds", to=60),
            changes("spec.activeDeadlineSeconds"),
            changes("spec.ttlSecondsAfterFinished"),
        ],
    ),
    "Job, indexed": Row(
        _job("indexed", completionMode="Indexed", completions=2, parallelism=2, backoffLimitPerIndex=1),
        [
            refused("spec.backoffLimitPerIndex", to=2),
            refused("spec.backoffLimitPerIndex"),
            refused("spec.completions", to=3),
            changes("spec.maxFailedIndexes", to=1),
            changes("spec.parallelism", to=1),
            refused("spec.successPolicy", to={"rules": [{"succeededIndexes": "0"}]}),
        ],
    ),
    "Job, indexed as a whole": Row(
        _job("whole", completionMode="Indexed", completions=2), [refused("spec.completionMode", to="NonIndexed")]
    ),
    "Job that selects": Row(
        changed(_job("selects", manualSelector=True, selector=_SELECTOR), "spec.template.metadata.labels.b", "c"),
        [refused("spec.selector", to=_NARROWER)],
    ),
    "Job that waits": Row(
        _job("suspended", suspend=True),
        [
            changes("spec.suspend", to=False),
            changes("spec.template.metadata.labels.a", to="b", because=_STARTED),
            refused(_IMAGE, to="local/agent:2.0"),
            changes("spec.template.spec.nodeSelector", to={"a": "b"}, because=_STARTED),
            refused("spec.template.spec.serviceAccountName", to="a"),
            changes("spec.template.spec.tolerations", to=[{"operator": "Exists"}], because=_STARTED),
        ],
    ),
}


def _resized(manifest: Manifest, completions: int, parallelism: int) -> Manifest:
    spec: Manifest = {**manifest["spec"], "completions": completions, "parallelism": parallelism}
    return spec


_ELASTIC = _job(
    "elastic",
    completionMode="Indexed",
    completions=4,
    parallelism=4,
    podFailurePolicy=_IGNORE_DISRUPTION,
    podReplacementPolicy="Failed",
)
_FEWER = _job("fewer", completionMode="Indexed", completions=4, parallelism=2)

TRAINING = {
    "Job of a role": Row(
        _ELASTIC,
        [
            *METADATA,
            changes("spec.activeDeadlineSeconds", to=1),
            changes("spec.backoffLimit", to=12),
            refused("spec.backoffLimitPerIndex", to=1),
            refused("spec.completionMode", to="NonIndexed"),
            refused("spec.completions", to=5),
            refused("spec.completions", to=3),
            changes("spec", to=_resized(_ELASTIC, 5, 5)),
            changes("spec", to=_resized(_ELASTIC, 1, 1)),
            refused("spec", to=_resized(_ELASTIC, 5, 4)),
            refused("spec.managedBy", to="kueue.x-k8s.io/multikueue"),
            changes("spec.parallelism", to=2),
            changes("spec.parallelism", to=5),
            refused("spec.podFailurePolicy", to=_EXIT_CODES),
            refused("spec.podFailurePolicy"),
            stays("spec.podReplacementPolicy"),
            changes("spec.suspend", to=True),
            refused("spec.template.metadata.labels.app", to="b"),
            refused("spec.template.metadata.annotations.a", to="b"),
            refused("spec.template.spec.containers.0.command", to=["a"]),
            refused("spec.template.spec.containers.0.env", to=[{"name": "A", "value": "1"}]),
            refused("spec.template.spec.containers.0.resources", to={"requests": {"cpu": "1"}}),
            refused("spec.template.spec.initContainers", to=[{"name": "a", "image": "a", "restartPolicy": "Always"}]),
            refused("spec.template.spec.priorityClassName", to="system-node-critical"),
            refused("spec.template.spec.schedulerName", to="volcano"),
            refused("spec.template.spec.subdomain", to="other"),
            refused("spec.template.spec.hostNetwork", to=True),
            refused("spec.template.spec.affinity", to={"podAffinity": {}}),
            changes("spec.ttlSecondsAfterFinished", to=60),
        ],
        until="status.startTime",
    ),
    "Job of fewer pods than indexes": Row(
        _FEWER,
        [
            changes("spec.completions", to=2),
            refused("spec.completions", to=3),
            changes("spec", to=_resized(_FEWER, 3, 3)),
            refused("spec", to=_resized(_FEWER, 3, 2)),
            changes("spec.parallelism", to=4),
        ],
        until="status.startTime",
    ),
}

OTHERS = {
    "CronJob": Row(
        body("CronJob", "a", api="batch/v1", spec={"schedule": "0 * * * *", "jobTemplate": {"spec": job()["spec"]}}),
        [
            *METADATA,
            changes("spec.concurrencyPolicy", to="Forbid"),
            changes("spec.failedJobsHistoryLimit", to=5),
            changes("spec.jobTemplate.metadata.labels", to={"a": "b"}),
            changes("spec.jobTemplate.spec.backoffLimit", to=1),
            changes("spec.jobTemplate.spec.completions", to=2),
            changes(f"spec.jobTemplate.{_IMAGE}", to="local/agent:2.0"),
            changes("spec.schedule", to="1 * * * *"),
            changes("spec.startingDeadlineSeconds", to=60),
            changes("spec.successfulJobsHistoryLimit", to=5),
            changes("spec.suspend", to=True),
            changes("spec.timeZone", to="Europe/Berlin"),
        ],
    ),
    "StatefulSet": Row(
        _stateful_set("ordered", updateStrategy={"type": "RollingUpdate"}),
        [
            *METADATA,
            changes("spec.minReadySeconds", to=5),
            changes("spec.ordinals", to={"start": 1}),
            changes("spec.persistentVolumeClaimRetentionPolicy.whenDeleted", to="Delete"),
            stays("spec.podManagementPolicy", to="OrderedReady"),
            refused("spec.podManagementPolicy", to="Parallel"),
            changes("spec.replicas", to=1),
            changes("spec.revisionHistoryLimit", to=2),
            refused("spec.selector", to=_NARROWER),
            refused("spec.serviceName", to="other"),
            changes("spec.template.metadata.labels.c", to="d"),
            changes(_IMAGE, to="local/agent:2.0"),
            changes("spec.updateStrategy.rollingUpdate", to={"partition": 1}),
            changes("spec.updateStrategy.type", to="OnDelete"),
            refused("spec.volumeClaimTemplates", to=[claim("data")]),
        ],
    ),
    "StatefulSet, parallel": Row(
        _stateful_set("parallel", podManagementPolicy="Parallel", updateStrategy=_ROLL_SOME),
        [refused("spec.podManagementPolicy"), changes("spec.updateStrategy", to={"type": "OnDelete"})],
    ),
    "StatefulSet that says nothing": Row(_stateful_set("silent"), [refused("spec.updateStrategy.type", to="OnDelete")]),
    "StatefulSet, by hand": Row(
        _stateful_set("by-hand", updateStrategy={"type": "OnDelete"}),
        [changes("spec.updateStrategy.type", to="RollingUpdate"), changes("spec.updateStrategy")],
    ),
    "Deployment": Row(
        _workload("Deployment", "rolls"),
        [
            *METADATA,
            changes("spec.minReadySeconds", to=5),
            changes("spec.paused", to=True),
            changes("spec.progressDeadlineSeconds", to=60),
            changes("spec.replicas", to=0),
            changes("spec.revisionHistoryLimit", to=2),
            refused("spec.selector", to=_NARROWER),
            refused("spec.strategy.type", to="Recreate"),
            changes(_IMAGE, to="local/agent:2.0"),
        ],
    ),
    "Deployment that rolls": Row(
        _workload("Deployment", "typed", strategy={"type": "RollingUpdate"}),
        [refused("spec.strategy.type", to="Recreate")],
    ),
    "Deployment that says how it rolls": Row(
        _workload("Deployment", "says", strategy=_ROLL_ALL), [changes("spec.strategy", to={"type": "Recreate"})]
    ),
    "DaemonSet": Row(
        _workload("DaemonSet", "a"),
        [
            *METADATA,
            refused("spec.selector", to=_NARROWER),
            changes(_IMAGE, to="local/agent:2.0"),
            changes("spec.updateStrategy.type", to="OnDelete"),
        ],
    ),
    "ReplicaSet": Row(
        _workload("ReplicaSet", "a", replicas=0),
        [
            *METADATA,
            changes("spec.replicas", to=1),
            refused("spec.selector", to=_NARROWER),
            changes(_IMAGE, to="local/agent:2"),
        ],
    ),
    "PodDisruptionBudget": Row(
        body("PodDisruptionBudget", "a", api="policy/v1", spec={"maxUnavailable": 1, "selector": _SELECTOR}),
        [
            *METADATA,
            changes("spec.maxUnavailable", to=2),
            changes("spec.selector.matchLabels.app", to="b"),
            changes("spec.unhealthyPodEvictionPolicy", to="AlwaysAllow"),
        ],
    ),
    "PriorityClass": Row(
        body("PriorityClass", "cells", api="scheduling.k8s.io/v1", namespace="", value=1),
        [
            *METADATA,
            changes("description", to="a"),
            changes("globalDefault", to=True),
            refused("preemptionPolicy", to="Never"),
            stays("preemptionPolicy", to="PreemptLowerPriority"),
            refused("value", to=2),
        ],
    ),
    "RuntimeClass": Row(
        body("RuntimeClass", "cells", api="node.k8s.io/v1", namespace="", handler="a"),
        [*METADATA, refused("handler", to="b")],
    ),
}

ROWS = {**JOBS, **TRAINING, **OTHERS}
