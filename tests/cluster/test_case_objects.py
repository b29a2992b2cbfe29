"""A real API server accepts every object of every case, sent as by Argo CD."""

import pytest

from tests.cluster import sync
from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster
from tests.cluster.shared import engine_crd, parameters
from tests.repositories import CASES, case

_LEFT_OUT = {"argoproj.io", "apiextensions.k8s.io", "kubeflow.org"}
"""Groups whose objects are the same everywhere, and applied with the examples, and one whose CRDs are not here."""


@pytest.mark.parametrize("name", parameters({name: name for name in CASES}, "cases in tests/cases"))
@pytest.mark.usefixtures("served")
def test_the_server_takes_every_object(cluster: Cluster, name: str) -> None:
    manifests = [output.manifest.body for output in case(name).outputs if output.path.endswith(".yaml")]
    sent = [manifest for manifest in manifests if _group(manifest) not in _LEFT_OUT]
    namespaces = {manifest["metadata"].get("namespace", "default") for manifest in sent}
    for group, kind in sorted({(_group(manifest), manifest["kind"]) for manifest in sent}):
        if group.endswith(("x-k8s.io", "volcano.sh")):
            sync.establish(cluster.admin, engine_crd(group, kind))
    for namespace in sorted(namespaces - {"default"}):
        cluster.namespace(namespace)
    try:
        for manifest in sent:
            cluster.admin.apply(manifest, dry_run=True)
    finally:
        for namespace in sorted(namespaces - {"default"}):
            cluster.release_namespace(namespace)


def _group(manifest: Manifest) -> str:
    return str(manifest["apiVersion"]).rpartition("/")[0]
