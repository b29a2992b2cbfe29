"""Compiled pods with their agent: the second look of a training job that its gate has opened."""

import json
from itertools import count
from pathlib import Path

from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE
from tests.cluster import container_image
from tests.cluster.client import Manifest, wait_for
from tests.nightly.node.lifecycle.life import SECONDS, Life, ends
from tests.repositories import compiled

WAITING = f"""\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {{name: samples, namespace: HOME}}
spec:
  source: {{uri: s3://samples.s3.eu-central-1.amazonaws.com/}}
  csi: {{driver: pvc, claim: {{name: shared, subPath: samples}}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: train, namespace: HOME}}
spec:
  sampleSetRef: {{name: samples, mountPath: /data, wait: {{timeoutSeconds: {SECONDS}}}}}
  worker:
    replicas: 1
    template:
      spec:
        automountServiceAccountToken: false
        containers:
          - name: train
            image: {container_image.NAME}
            command: [/bin/sh, -c, "cat /data/sample > /data/seen"]
"""


def test_compiled_pod_trains_once_its_dataset_is_there(agents: None, life: Life, tmp_path: Path) -> None:
    """Our program as it is compiled: another user, a file system that nobody writes, a directory of a claim."""
    samples = life.claim("shared") / "samples"
    samples.mkdir()
    job = life.client.create(_compiled_job(life, tmp_path))
    wait_for(lambda: _is_running(life, "wait-dataset"), SECONDS, what="the wait")
    (samples / "sample").write_text("one")
    _mark(samples / COMPLETE_FILE, {"format": 1, "run": "samples-sync-a"})
    life.await_condition(job, "Complete")
    assert (samples / "seen").read_text() == "one"
    (pod,) = life.pods(job["metadata"]["name"])
    assert ends(pod) == {"wait-dataset": 0, "train": 0}


def test_compiled_job_ends_when_the_sync_of_its_dataset_failed_for_good(
    agents: None, life: Life, tmp_path: Path
) -> None:
    samples = life.claim("shared") / "samples"
    samples.mkdir()
    job = life.client.create(_compiled_job(life, tmp_path))
    runs = count()

    def fails_again() -> bool:
        """A failure that is there at the first look might be of an older spec: only one that comes later counts."""
        failed = {"format": 1, "run": f"samples-sync-{next(runs)}", "result": "failed", "exitCode": 3}
        _mark(samples / FAILED_FILE, failed)
        return bool(life.client.get(job)["status"].get("failed"))

    wait_for(fails_again, SECONDS, what="end of the wait")
    assert life.await_condition(job, "Failed")["reason"] == "PodFailurePolicy"
    (pod,) = life.pods(job["metadata"]["name"])
    (status,) = pod["status"]["initContainerStatuses"]
    ended = status["state"]["terminated"]
    assert (ended["exitCode"], json.loads(ended["message"])["reason"]) == (4, "SyncFailed")
    assert not (samples / "seen").exists()


def _compiled_job(life: Life, repository: Path) -> Manifest:
    result = compiled(repository, {"train.yaml": WAITING.replace("HOME", life.namespace)})
    assert result.errors == []
    (job,) = [output.manifest.body for output in result.outputs if "job-train-paddlejob-worker" in output.path]
    job["spec"]["suspend"] = False
    return job


def _mark(path: Path, marker: Manifest) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(marker))


def _is_running(life: Life, container: str) -> bool:
    found = [
        each
        for pod in life.client.list("v1", "Pod", life.namespace)
        for each in pod["status"].get("initContainerStatuses", [])
    ]
    return any(each["name"] == container and "running" in each["state"] for each in found)
