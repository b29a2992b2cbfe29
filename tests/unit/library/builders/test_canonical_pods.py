"""Parts of a user's pod template that are rewritten, because servers accept only one form."""

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
def test_fraction_becomes_a_string_since_engines_accept_no_other_quantity(tmp_path: Path, jobs: str) -> None:
    result = compiled(tmp_path, {"a.yaml": _SPECS.format(jobs=jobs)})
    assert result.errors == []
    (run,) = (output.manifest.body for output in result.outputs if output.manifest.kind in {"Job", "JobSet"})
    job = run["spec"]["replicatedJobs"][0]["template"] if jobs == "jobset" else run
    pod: dict[str, Any] = job["spec"]["template"]["spec"]
    requests = {"cpu": "0.5", "memory": 1_000_000_000}
    assert pod["containers"][0]["resources"] == {"requests": requests, "limits": {"cpu": 2, "memory": "2Gi"}}
    assert pod["volumes"] == [{"name": "shm", "emptyDir": {"sizeLimit": "0.0000001"}}]
    (group,) = (output.manifest.body for output in result.outputs if output.manifest.kind == "PodGroup")
    (resource,) = (output.manifest.body for output in result.outputs if output.manifest.kind == "PaddleJob")
    policy = resource["spec"]["schedulingPolicy"]
    assert group["spec"]["minResources"] == policy["minResources"] == {"cpu": "0.5", "memory": 2}


def test_empty_list_is_left_out_since_the_server_drops_it(tmp_path: Path) -> None:
    container = "{name: main, image: a, args: [], ports: [], securityContext: {capabilities: {drop: []}}, env: []}"
    worker = f"{{replicas: 1, template: {{spec: {{containers: [{container}], volumes: [], nodeSelector: {{}}}}}}}}"
    text = f"apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {{name: a}}\nspec: {{worker: {worker}}}"
    result = compiled(tmp_path, {"a.yaml": text})
    assert result.errors == []
    (job,) = (output.manifest.body for output in result.outputs if output.manifest.kind == "Job")
    pod: dict[str, Any] = job["spec"]["template"]["spec"]
    assert pod.keys() == {"containers", "nodeSelector", "restartPolicy", "subdomain"}
    assert pod["containers"][0].keys() == {"name", "image", "securityContext", "env"}
    assert pod["containers"][0]["securityContext"] == {"capabilities": {}}
