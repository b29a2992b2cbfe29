"""PodGroups, by which Volcano and the coscheduling plug-in count pods."""

from collections.abc import Mapping

from stowplan.library.builders.metadata import metadata
from stowplan.library.builders.pods import requests
from stowplan.library.ir.training import TrainingGroup
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels, quantities

SKIP_DRY_RUN = {labels.SYNC_OPTIONS: "SkipDryRunOnMissingResource=true"}
"""Argo CD may sync before the cluster has the kind."""


def pod_group(api_version: str, group: TrainingGroup, spec: Json, run: str) -> Manifest:
    """The PodGroup of one run."""
    origin = group.origin
    meta = metadata(
        "PodGroup",
        group.names.group(run),
        origin,
        "gang",
        namespace=origin.spec.namespace,
        annotations=SKIP_DRY_RUN,
    )
    present = {key: value for key, value in spec.items() if value}
    body = {"apiVersion": api_version, "kind": "PodGroup", "metadata": meta, "spec": present}
    return Manifest(body, stem=group.names.base, run=True)


def min_resources(group: TrainingGroup, pods: Mapping[str, Json]) -> Mapping[str, object]:
    """The user's value, or the sum of the requests of all pods."""
    if group.gang.min_resources is not None:
        given: Mapping[str, object] = quantities.without_fractions(group.gang.min_resources)
        return given
    return requests.total((role.size, pods[role.name]["spec"]) for role in group.roles)
