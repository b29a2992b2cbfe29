"""PodGroups, by which Volcano and the coscheduling plug-in count pods."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal

from stowplan.library.builders.metadata import Head, metadata
from stowplan.library.ir.reason import Reason
from stowplan.library.ir.training import TrainingGroup
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels, quantities

SKIP_DRY_RUN = {labels.SYNC_OPTIONS: labels.SKIP_DRY_RUN}
"""Annotation that lets Argo CD sync the object even if the cluster does not have its CRD yet."""

REASONS = (Reason("gang", "All pods of the job are placed together or none is.", "/spec/**"),)


def pod_group(api_version: str, group: TrainingGroup, spec: Json, run: str) -> Manifest:
    """Return the PodGroup of one run. Empty fields of `spec` are left out. `run` is the hash of the run."""
    meta = metadata("PodGroup", group.names.group(run), Head(group.origin, "gang", annotations=SKIP_DRY_RUN))
    present = {key: value for key, value in spec.items() if value}
    body = {"apiVersion": api_version, "kind": "PodGroup", "metadata": meta, "spec": present}
    return Manifest(body, stem=group.names.base, run=True)


def min_resources(group: TrainingGroup, pods: Mapping[str, Json]) -> Mapping[str, object]:
    """Return the quantities by resource that a PodGroup needs: the user's `minResources`, else the sum over all pods.

    Of a run that waits for a gate it needs none: Volcano would reserve them in its queue before there are pods. `pods`
    are the pod templates by role; the sum is that of their requests.
    """
    if group.gate:
        return {}
    if group.gang.min_resources is not None:
        return given_resources(group)
    return total((role.size, pods[role.name]["spec"]) for role in group.roles)


def given_resources(group: TrainingGroup) -> Mapping[str, object]:
    """Return the user's `minResources`, the quantities by resource that a PodGroup needs; empty if there are none."""
    given: Mapping[str, object] = quantities.without_fractions(group.gang.min_resources or {})
    return given


def _requests(spec: Json) -> dict[str, Decimal]:
    """Return how much a pod requests, by resource name. `spec` is the pod's spec.

    It is the sum over containers and sidecars, or more if an init container together with the sidecars before it needs
    more. A limit without a request counts as a request, which is Kubernetes' default. Invalid quantities are skipped.
    """
    running: defaultdict[str, Decimal] = defaultdict(Decimal)
    most: defaultdict[str, Decimal] = defaultdict(Decimal)
    for container in spec.get("initContainers") or ():
        for name, number in _container(container).items():
            most[name] = max(most[name], running[name] + number)
            running[name] += number if container.get("restartPolicy") == "Always" else 0
    for container in spec["containers"]:
        for name, number in _container(container).items():
            running[name] += number
    return {name: max(most[name], running[name]) for name in running | most}


def total(pods: Iterable[tuple[int, Json]]) -> dict[str, str]:
    """Return the sum of the requests of `pods`, as Kubernetes quantities by resource name, sorted.

    `pods` are pairs: the number of equal pods, and their spec. Sums of 0 are left out.
    """
    amounts: defaultdict[str, Decimal] = defaultdict(Decimal)
    for count, spec in pods:
        for name, number in _requests(spec).items():
            amounts[name] += count * number
    return {name: quantities.text(amounts[name]) for name in sorted(amounts) if amounts[name]}


def _container(container: Json) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    found = {name: quantities.amount(quantity) for name, quantity in wanted.items()}
    return {name: number for name, number in found.items() if number is not None}
