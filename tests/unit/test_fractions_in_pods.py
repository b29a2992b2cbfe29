"""Fractions in a user's pod template are quantities; the CRDs of engines take those as text or whole numbers only."""

from pathlib import Path
from typing import Any

import pytest

from tests.repositories import compiled

_SPECS = """\
kind: Platform
engines: {{jobs: {jobs}, gang: volcano}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: a}}
spec:
  schedulingPolicy: {{minResources: {{cpu: 0.5, memory: 2}}}}
  worker:
    replicas: 1
    template:
      spec:
        containers:
        - name: main
          image: "a:1"
          resources: {{requests: {{cpu: 0.5, memory: 1e9}}, limits: {{cpu: 2, memory: 2Gi}}}}
        volumes: [{{name: shm, emptyDir: {{sizeLimit: 0.0000001}}}}]
"""


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_fraction_becomes_text(tmp_path: Path, jobs: str) -> None:
    result = compiled(tmp_path, {"a.yaml": _SPECS.format(jobs=jobs)})
    assert result.errors == []
    (run,) = (output.manifest.body for output in result.outputs if output.manifest.kind in {"Job", "JobSet"})
    job = run["spec"]["replicatedJobs"][0]["template"] if jobs == "jobset" else run
    pod: dict[str, Any] = job["spec"]["template"]["spec"]
    requests = {"cpu": "0.5", "memory": 1_000_000_000}
    assert pod["containers"][0]["resources"] == {"requests": requests, "limits": {"cpu": 2, "memory": "2Gi"}}
    assert pod["volumes"] == [{"name": "shm", "emptyDir": {"sizeLimit": "0.0000001"}}]
    (group,) = (output.manifest.body for output in result.outputs if output.manifest.kind == "PodGroup")
    assert group["spec"]["minResources"] == {"cpu": "0.5", "memory": 2}
