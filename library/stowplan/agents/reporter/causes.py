"""Reasons why pods fail or do not start, derived from the status of the pods."""

from collections.abc import Iterable
from dataclasses import dataclass

from stowplan.agents.reporter.objects.events import FAILED_SCHEDULING
from stowplan.agents.reporter.objects.pods import Container, Pod
from stowplan.agents.reporter.objects.workloads import AWAIT, Job, JobSet, StatefulSet
from stowplan.schema.agents.exit_codes import TERMINATED

OOM = "OOMKilled"
NODE_LOST = "NodeLost"
EVICTED = "Evicted"
DATASET = "DatasetNotReady"
SPEC = "SpecNotDone"
PEERS = "WaitingForPeers"
LINEAGE = "WaitingForLineage"
DEADLINE = "DeadlineExceeded"

_DISRUPTIONS = {
    "PreemptionByScheduler": "Preempted",
    "EvictionByEvictionAPI": EVICTED,
    "TerminationByKubelet": EVICTED,
    "DeletionByTaintManager": NODE_LOST,
    "DeletionByPodGC": NODE_LOST,
}
"""For each reason of a pod's condition DisruptionTarget, the reason of the cause.

DeletionByTaintManager counts as a lost cluster node, since most taints that remove pods mark such nodes.
"""

_NO_IMAGE = frozenset({"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"})
"""Reasons of a waiting container that mean that its image cannot be pulled.

The kubelet reports ErrImagePull after each failed pull and ImagePullBackOff until the next one, so without either of
them the report would change with every try.
"""

_NO_CONTAINER = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})

_BY_SIGNAL = frozenset({137, TERMINATED})
"""Exit codes of containers that a signal has ended: 137 for SIGKILL, 143 for SIGTERM.

If a pod is being deleted, or the container is a sidecar that is not started again, the signal is a consequence and not
a cause.
"""

_LOOP = 3
"""Restarts from which on a sidecar that does not run counts as one that crashes again and again.

Kubernetes starts a sidecar again without end, so only a person can help then. A server that dies once or twice because
others are not there yet is none.
"""

_NAMED = 3
"""Maximum number of pods that a message names."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Reason why a pod does no work."""

    reason: str
    """One word in CamelCase, used as the reason of a condition."""
    message: str
    weight: int
    """Rank among several causes: the cause with the lowest weight explains a failure best."""
    at: str = ""
    """Time at which the cause began (RFC 3339); empty if unknown."""
    lasting: bool = False
    """Whether the cause remains until a person removes it."""


def of_work(pods: Iterable[Pod], workloads: Iterable[Job | JobSet | StatefulSet]) -> Cause | None:
    """Return the cause with the lowest weight among the pods, or else why pods of the workloads cannot be created.

    None if the pods are healthy and none is missing.
    """
    return of_pods(pods) or next((_uncreated(each) for each in workloads if each.obstacle), None)


def _uncreated(workload: Job | JobSet | StatefulSet) -> Cause | None:
    event, kind = workload.obstacle, type(workload).__name__
    if event is None:
        return None
    message = f"{kind} {workload.name}: {event.message}"
    return Cause(event.reason, message, 3, event.at, lasting=event.lasting)


def of_pods(pods: Iterable[Pod]) -> Cause | None:
    """Return the cause with the lowest weight; None if all pods are healthy.

    The message of the cause names the first pods with this cause and counts the others.
    """
    found = sorted(
        ((cause, pod.name) for pod in pods if (cause := of_pod(pod))),
        key=lambda each: (each[0].weight, each[0].reason, each[1]),
    )
    if not found:
        return None
    first = found[0][0]
    alike = [cause for cause, _ in found if cause.reason == first.reason and cause.weight == first.weight]
    message = "; ".join(cause.message for cause in alike[:_NAMED])
    if len(alike) > _NAMED:
        message += f"; and {len(alike) - _NAMED} more"
    return Cause(first.reason, message, first.weight, max(cause.at for cause in alike), first.lasting)


def of_pod(pod: Pod) -> Cause | None:
    """Return the cause of one pod; None for a healthy pod."""
    return (
        _killed(pod)
        or _disrupted(pod)
        or _failed_as_a_whole(pod)
        or _ended(pod)
        or _lost(pod)
        or _held(pod)
        or _blocked(pod)
    )


def place(pod: Pod) -> str:
    """Return a phrase for messages with the names of the pod and its cluster node, if it has one."""
    return f"pod {pod.name} on node {pod.node}" if pod.node else f"pod {pod.name}"


def _killed(pod: Pod) -> Cause | None:
    for each in pod.containers:
        if each.ended and each.ended.reason == OOM:
            message = (
                f"{place(pod)}: container {each.name} used more memory than its limit (exit code {each.ended.code})"
            )
            return Cause(OOM, message, 0 if each.ended.current else 4, each.ended.at, lasting=_loops(each))
    return None


def _disrupted(pod: Pod) -> Cause | None:
    sign = pod.conditions.get("DisruptionTarget")
    if sign is None or sign.status != "True":
        return None
    reason = _DISRUPTIONS.get(sign.reason, "Disrupted")
    detail = sign.message or pod.message or sign.reason
    return Cause(reason, f"{place(pod)}: {detail}", 1, sign.at)


def _failed_as_a_whole(pod: Pod) -> Cause | None:
    if not pod.reason:
        return None
    detail = pod.message or pod.reason
    return Cause(pod.reason, f"{place(pod)}: {detail}", 1, _since(pod))


def _ended(pod: Pod) -> Cause | None:
    failed = [each for each in pod.containers if each.ended and not _is_consequence(pod, each)]
    for each in sorted(failed, key=lambda each: (each.sidecar, each.name)):
        ended = each.ended
        if ended is None:
            continue
        reason = ended.reason if ended.reason != "Error" else "ContainerFailed"
        words = f": {ended.message}" if ended.message else ""
        again = "" if ended.current else f", started again ({each.restarts} times)"
        message = f"{place(pod)}: container {each.name} ended with exit code {ended.code}{again}{words}"
        return Cause(reason, message, (2 if ended.current else 4) + each.sidecar, ended.at, lasting=_loops(each))
    return None


def _loops(container: Container) -> bool:
    """Return whether the kubelet has started a sidecar again and again, and waits before it does so once more."""
    down = container.waiting is not None or (container.ended is not None and container.ended.current)
    return container.sidecar and down and container.restarts >= _LOOP


def _is_consequence(pod: Pod, container: Container) -> bool:
    ended = container.ended
    if ended is None or container.name == AWAIT:
        return True
    told_to_end = ended.code in _BY_SIGNAL and ((container.sidecar and ended.current) or pod.deleting)
    return told_to_end or (container.sidecar and pod.is_over)


def _lost(pod: Pod) -> Cause | None:
    """Return the cause of a pod whose cluster node does not answer; None for any other pod.

    The node controller of Kubernetes then sets the pod's condition Ready to false. The condition ContainersReady, which
    the kubelet writes, remains true.
    """
    ready, own = pod.conditions.get("Ready"), pod.conditions.get("ContainersReady")
    if pod.phase != "Running" or not ready or not own:
        return None
    if ready.status == "True" or own.status != "True" or ready.reason == "ReadinessGatesNotReady":
        return None
    return Cause(NODE_LOST, f"{place(pod)}: the node does not answer", 1, ready.at)


def _held(pod: Pod) -> Cause | None:
    """Return why the pod does not start or does no work yet; None if nothing holds it up."""
    for each in pod.containers:
        waiting = each.waiting
        if waiting and waiting.reason in _NO_IMAGE:
            message = f"{place(pod)}: the image of container {each.name} cannot be pulled: {waiting.message}"
            return Cause("ImagePullFailed", message.rstrip(": "), 3, _since(pod), lasting=True)
        if waiting and waiting.reason in _NO_CONTAINER:
            message = f"{place(pod)}: container {each.name} cannot be made: {waiting.message}"
            return Cause("ContainerConfigError", message.rstrip(": "), 3, _since(pod), lasting=True)
    scheduled = pod.conditions.get("PodScheduled")
    if pod.phase == "Pending" and scheduled and scheduled.status == "False":
        reason = scheduled.reason or "Unschedulable"
        return Cause(reason, f"{place(pod)} waits for a node: {scheduled.message}".rstrip(": "), 5, scheduled.at)
    return _waiting(pod)


def _waiting(pod: Pod) -> Cause | None:
    """Return what an init container or sidecar of ours waits for, before it lets the next container start."""
    if pod.awaits:
        return Cause(DATASET, f"{place(pod)} waits for dataset {pod.awaits}", 6, _since(pod))
    if pod.awaits_peers:
        return Cause(PEERS, f"{place(pod)} waits for its peers", 7, _since(pod))
    if pod.awaits_lineage:
        message = f"{place(pod)} waits for lineage {pod.awaits_lineage}: another run has its checkpoints, or had them"
        return Cause(LINEAGE, f"{message} until it was killed less than ten minutes ago", 7, _since(pod))
    return None


def _blocked(pod: Pod) -> Cause | None:
    """Return why the pod has no cluster node or no volumes, by an event; None if no event says so."""
    event = pod.obstacle
    if event is None:
        return None
    weight = 5 if event.reason == FAILED_SCHEDULING else 3
    return Cause(event.reason, f"{place(pod)}: {event.message}", weight, event.at, lasting=event.lasting)


def _since(pod: Pod) -> str:
    return max((sign.at for sign in pod.conditions.values()), default=pod.created)
