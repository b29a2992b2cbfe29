"""A real API server accepts every object of every case, sent as by Argo CD."""

import json
from typing import Any

import pytest

from tests.cluster import sync
from tests.cluster.client import ApiError, Manifest
from tests.cluster.control_plane import Cluster
from tests.cluster.shared import engine_crd
from tests.repositories import CASES, case
from tests.tier import TIER

_LEFT_OUT = {"argoproj.io", "apiextensions.k8s.io", "kubeflow.org"}
"""Groups whose objects are the same everywhere, and applied with the examples, and one whose CRDs are not here."""
_OF_ENGINES = ("x-k8s.io", "volcano.sh")


@pytest.mark.usefixtures("served")
def test_the_server_takes_every_object(cluster: Cluster) -> None:
    """Each once, however many cases have it; at landing one of those that have the same fields."""
    sent = {
        _key(output.manifest.body): (name, output.manifest.body)
        for name in CASES
        for output in case(name).outputs
        if output.path.endswith(".yaml") and output.manifest.group not in _LEFT_OUT
    }
    manifests = [manifest for _, manifest in sent.values()]
    assert manifests
    for group, kind in sorted({(_group(manifest), manifest["kind"]) for manifest in manifests}):
        if group.endswith(_OF_ENGINES):
            sync.establish(cluster.admin, engine_crd(group, kind))
    namespaces = sorted({manifest["metadata"].get("namespace", "default") for manifest in manifests} - {"default"})
    for namespace in namespaces:
        cluster.namespace(namespace)
    refused = {}
    try:
        for name, manifest in sent.values():
            try:
                cluster.admin.apply(manifest, dry_run=True)
            except ApiError as error:
                refused[name, manifest["kind"], manifest["metadata"]["name"]] = str(error)
    finally:
        for namespace in namespaces:
            cluster.release_namespace(namespace)
    assert refused == {}


def _group(manifest: Manifest) -> str:
    return str(manifest["apiVersion"]).rpartition("/")[0]


def _key(manifest: Manifest) -> str:
    return json.dumps(_shape(manifest) if TIER == "landing" else manifest, sort_keys=True)


def _shape(value: Any) -> Any:
    """Its fields, with the types of their values."""
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in sorted(value.items())}
    if isinstance(value, list):
        return sorted({json.dumps(_shape(each)) for each in value})
    return type(value).__name__
