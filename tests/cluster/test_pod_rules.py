"""Rules of pods that are missing from the OpenAPI document, on a real API server."""

from typing import Any

import pytest

from tests.cluster.client import ApiError, Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.unit.compiler.kubernetes.test_schemas import REFUSED, TAKEN


def job(spec: dict[str, Any]) -> Manifest:
    template = {"spec": {"restartPolicy": "Never", **spec}}
    return {**ref("batch/v1", "Job", "pod-rules", "default"), "spec": {"template": template}}


@pytest.mark.parametrize(("spec", "path"), REFUSED)
def test_refused(cluster: Cluster, spec: dict[str, Any], path: str) -> None:
    with pytest.raises(ApiError) as refusal:
        cluster.admin.create(job(spec), dry_run=True)
    assert refusal.value.status == 422
    assert path.partition("[")[0].partition(".")[0] in refusal.value.message


@pytest.mark.parametrize("spec", TAKEN)
def test_taken(cluster: Cluster, spec: dict[str, Any]) -> None:
    cluster.admin.create(job(spec), dry_run=True)
