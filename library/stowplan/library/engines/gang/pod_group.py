"""PodGroups, by which Volcano and the coscheduling plug-in count pods."""

from collections.abc import Mapping

from stowplan.library.builders.metadata import Part, metadata
from stowplan.library.builders.pods import requests
from stowplan.library.ir.reason import Reason
from stowplan.library.ir.training import TrainingGroup
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels, quantities

SKIP_DRY_RUN = {labels.SYNC_OPTIONS: labels.SKIP_DRY_RUN}
"""Annotation that lets Argo CD sync the object even if the cluster does not have its CRD yet."""

REASONS = (Reason("gang", "All pods of the job are placed together or none is.", "/spec/**"),)


def pod_group(api_version: str, group: TrainingGroup, spec: Json, run: str) -> Manifest:
    """Return the PodGroup of one run. Empty fields of `spec` are left out. `run` is the hash of the run."""
    meta = metadata("PodGroup", group.names.group(run), Part(group.origin, "gang", annotations=SKIP_DRY_RUN))
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
    return requests.total((role.size, pods[role.name]["spec"]) for role in group.roles)


def given_resources(group: TrainingGroup) -> Mapping[str, object]:
    """Return the user's `minResources`, the quantities by resource that a PodGroup needs; empty if there are none."""
    given: Mapping[str, object] = quantities.without_fractions(group.gang.min_resources or {})
    return given
