"""Objects as an API server returns them, and the status that the reporter derives from them."""

from dataclasses import replace
from typing import Any

from stowplan.agents.reporter.objects import pods, resources, workloads
from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules import registry
from stowplan.schema.kinds import table

Manifest = dict[str, Any]
NAMESPACE = "ml"
RUN = "abcdefgh"


def time(minute: int) -> str:
    """A time of one hour."""
    return f"2026-03-01T10:{minute:02}:00Z"


def labels(kind: str, **more: str) -> dict[str, str]:
    return {"stowplan.dev/kind": kind, "stowplan.dev/name": "it", **more}


def conditions(minute: int, *types: str, reason: str = "Because", message: str = "because") -> list[Manifest]:
    """True conditions; `-` before a type for a false one."""
    return [
        {
            "type": each.removeprefix("-"),
            "status": "False" if each.startswith("-") else "True",
            "reason": reason,
            "message": message,
            "lastTransitionTime": time(minute),
        }
        for each in types
    ]


def resource(kind: str, spec: Manifest | None = None, status: Manifest | None = None, **metadata: Any) -> Manifest:
    meta = {
        "name": "it",
        "namespace": NAMESPACE,
        "uid": "u-it",
        "resourceVersion": "100",
        "generation": 1,
        "creationTimestamp": time(0),
        "labels": labels(kind),
        **metadata,
    }
    return {"metadata": meta, "spec": spec or {}, **({"status": status} if status else {})}


def job(
    kind: str, role: str, size: int = 1, *, run: str = RUN, minute: int = 1, status: Manifest | None = None, **spec: Any
) -> Manifest:
    """Return a Job of a role; its pods never end unless `status` has more fields."""
    name = f"it-{kind.lower()}-{role}-{run}"
    metadata = {
        "name": name,
        "uid": f"u-{name}",
        "creationTimestamp": time(minute),
        "labels": labels(kind, **{"app.kubernetes.io/component": role}),
    }
    template = {"spec": {"containers": [{"name": "main"}]}}
    return {
        "metadata": metadata,
        "spec": {"parallelism": size, "completions": size, "template": template, **spec},
        "status": {"startTime": time(minute), **(status or {})},
    }


def complete(minute: int, succeeded: int = 1) -> Manifest:
    """The status of a Job that is done."""
    done = conditions(minute, "SuccessCriteriaMet", "Complete", reason="CompletionsReached")
    return {"conditions": done, "completionTime": time(minute), "succeeded": succeeded}


def failed(minute: int, reason: str = "BackoffLimitExceeded", message: str = "too many failures") -> Manifest:
    """The status of a Job that has failed."""
    return {"conditions": conditions(minute, "FailureTarget", "Failed", reason=reason, message=message), "failed": 1}


def pod(owner: Manifest, index: int = 0, *, minute: int = 2, name: str = "", **status: Any) -> Manifest:
    """Return a pod of a Job. By default it runs and is ready."""
    job_name = owner["metadata"]["name"]
    given = owner["metadata"]["labels"]
    name = name or f"{job_name}-{index}-xyz"
    metadata = {
        "name": name,
        "uid": f"u-{name}",
        "creationTimestamp": time(minute),
        "labels": {**given, "batch.kubernetes.io/job-name": job_name},
        "annotations": {"batch.kubernetes.io/job-completion-index": str(index)},
    }
    return {"metadata": metadata, "spec": {"nodeName": f"node-{index}"}, "status": {**running(minute), **status}}


def runtime_pod(ordinal: int = 0, *, node: str = "node-0", **status: Any) -> Manifest:
    """A cache pod of a SampleSet."""
    name = f"it-runtime-{ordinal}"
    given = labels("SampleSet", **{"app.kubernetes.io/component": "runtime"})
    metadata = {"name": name, "uid": f"u-{name}", "creationTimestamp": time(1), "labels": given}
    return {"metadata": metadata, "spec": {"nodeName": node}, "status": {**running(2), **status}}


def running(minute: int) -> Manifest:
    return {
        "phase": "Running",
        "conditions": conditions(minute, "PodScheduled", "ContainersReady", "Ready"),
        "containerStatuses": [{"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}}],
    }


def pending(**container: Any) -> Manifest:
    """A pod that has its node; `container` is the state of its container."""
    state = container or {"waiting": {"reason": "ContainerCreating"}}
    return {
        "phase": "Pending",
        "conditions": conditions(2, "PodScheduled", "-Ready", "-ContainersReady"),
        "containerStatuses": [{"name": "main", "ready": False, "restartCount": 0, "state": state}],
    }


def waiting_for(dataset: str) -> Manifest:
    """Specification and status of a pod that waits for a dataset."""
    words = ["--dataset", dataset, "--path", "/data", "--until", "synced", "--timeout", "60"]
    init = [{"name": "wait-dataset", "ready": False, "restartCount": 0, "state": {"running": {}}}]
    status = pending(waiting={"reason": "PodInitializing"})
    return {
        "spec": {"nodeName": "node-0", "initContainers": [{"name": "wait-dataset", "args": words}]},
        "status": {**status, "initContainerStatuses": init},
    }


def ended(code: int, minute: int = 5, reason: str = "", message: str = "") -> Manifest:
    """A pod whose container has ended."""
    why = reason or ("Error" if code else "Completed")
    terminated = {"exitCode": code, "reason": why, "message": message, "finishedAt": time(minute)}
    return {
        "phase": "Failed" if code else "Succeeded",
        "conditions": conditions(minute, "PodScheduled", "-Ready", "-ContainersReady"),
        "containerStatuses": [{"name": "main", "ready": False, "restartCount": 0, "state": {"terminated": terminated}}],
    }


def stateful_set(replicas: int, ready: int, **metadata: Any) -> Manifest:
    meta = {
        "name": "it-runtime",
        "uid": "u-set",
        "creationTimestamp": time(1),
        "generation": 1,
        "labels": labels("SampleSet"),
        **metadata,
    }
    return {
        "metadata": meta,
        "spec": {"replicas": replicas},
        "status": {"readyReplicas": ready, "observedGeneration": 1},
    }


def job_set(kind: str, status: Manifest | None = None, *, run: str = RUN, **sizes: int) -> Manifest:
    roles = [{"name": name, "replicas": 1, "template": {"spec": {"parallelism": n}}} for name, n in sizes.items()]
    name = f"it-{kind.lower()}-{run}"
    metadata = {"name": name, "uid": f"u-{name}", "creationTimestamp": time(1), "labels": labels(kind)}
    return {"metadata": metadata, "spec": {"replicatedJobs": roles}, "status": status or {}}


def observed(kind: str, given: Manifest, *objects: Manifest, partitions: int | None = None) -> Observed:
    """Return a custom resource with its objects as from the caches."""
    found = resources.resource(given, NAMESPACE, kind, registry.RULES[kind].observed)
    assert found is not None
    job_manifests = [each for each in objects if "template" in each["spec"]]
    set_manifests = [each for each in objects if "replicas" in each["spec"]]
    job_sets = [each for each in objects if "replicatedJobs" in each["spec"]]
    others = [each for each in objects if each not in (*job_manifests, *set_manifests, *job_sets)]
    return Observed(
        resource=found,
        jobs=[each for manifest in job_manifests if (each := workloads.job(manifest, NAMESPACE))],
        job_sets=[made for manifest in job_sets if (made := workloads.job_set(manifest, NAMESPACE))],
        sets=[found_set for manifest in set_manifests if (found_set := workloads.stateful_set(manifest, NAMESPACE))],
        pods=[one for manifest in others if (one := pods.pod(manifest, NAMESPACE))],
        partitions=partitions,
    )


def report(
    kind: str, given: Manifest, *objects: Manifest, partitions: int | None = None, mxnet: Any = "scheduler"
) -> Any:
    """Return the resulting status. It must fit the CRD, and judging it again must not change it."""
    seen = observed(kind, given, *objects, partitions=partitions)
    status = registry.status(replace(seen, mxnet_success=mxnet))
    if status is None:
        return None
    table.KINDS[kind].model.STATUS.model_validate(status)
    assert set(status) <= registry.RULES[kind].fields
    assert not [key for key, value in status.items() if value in ({}, [])], "would be a null after an apply"
    others = {key: value for key, value in given.get("status", {}).items() if key not in registry.RULES[kind].fields}
    again = observed(kind, {**given, "status": {**others, **status}}, *objects, partitions=partitions)
    second = registry.status(replace(again, mxnet_success=mxnet))
    assert second is None or registry.is_reported(again, second), (status, second)
    return status


def condition(status: Manifest, name: str) -> tuple[str, str]:
    """Return status and reason of a condition."""
    (found,) = (each for each in status["conditions"] if each["type"] == name)
    return found["status"], found["reason"]


def message(status: Manifest, name: str) -> str:
    (found,) = (each for each in status["conditions"] if each["type"] == name)
    return str(found.get("message", ""))
