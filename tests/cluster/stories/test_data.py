"""Data from a real store and training that waits for it, as `kubectl get` and Argo CD show them."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.agents.relay import Relay, relay
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage, needed, new_bucket, serving
from tests.cluster.client import Manifest, ref
from tests.cluster.stories.conftest import Begin, Compile
from tests.cluster.stories.story import Story

CUBE = """\
kind: Platform
defaultNamespace: story-cube
images: {registry: registry.example.com/ml, tag: "1"}
---
apiVersion: tensorstack.dev/v1beta1
kind: DataCube
metadata: {name: llama}
spec:
  source:
    type: s3
    options:
      - {name: s3-endpoint, valueFrom: {secretKeyRef: {name: s3, key: endpoint}}}
      - {name: s3-access-key-id, valueFrom: {secretKeyRef: {name: s3, key: access-key}}}
      - {name: s3-secret-access-key, valueFrom: {secretKeyRef: {name: s3, key: secret-key}}}
      - {name: s3-uri, value: s3://BUCKET/llama/}
  sink: {type: pvc, pvc: {name: models, subPath: llama}}
  executor: {options: {backoffLimit: 2, requestRetries: 0, activeDeadlineSeconds: 600}}
"""
SERVERS = """\
kind: Platform
defaultNamespace: story-servers
images: {registry: registry.example.com/ml, tag: "1"}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: criteo}
spec:
  source: {uri: "minio://127.0.0.1:PORT/BUCKET/criteo/", secretRef: {name: s3}}
  csi:
    driver: pvc
    claim:
      template:
        spec: {storageClassName: shared, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: ctr}
spec:
  sampleSetRef: {name: criteo, mountPath: /data, wait: {until: synced}}
  ps:
    replicas: 2
    template:
      spec: {containers: [{name: paddle, image: "registry.example.com/ml/ctr:1"}]}
  worker:
    replicas: 2
    template:
      spec: {containers: [{name: paddle, image: "registry.example.com/ml/ctr:1"}]}
"""


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an S3 server."""
    with serving(needed(), tmp_path_factory.mktemp("s3")) as url:
        yield url


@pytest.fixture
def storage(s3: str) -> Storage:
    """A bucket with a dataset and a model."""
    bucket = new_bucket(s3)
    bucket.put({"criteo/day-0": b"0" * 1000, "criteo/day-1": b"1" * 1000, "llama/weights": b"w" * 5000})
    return bucket


@pytest.fixture
def way(storage: Storage) -> Iterator[Relay]:
    """Between the agents and the store."""
    with relay(storage.endpoint) as found:
        yield found


def _secret(story: Story, endpoint: str) -> None:
    """What a person made in the cluster."""
    values = {"endpoint": endpoint, "access-key": ACCESS_KEY, "secret-key": SECRET_KEY}
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    manifest: Manifest = {**ref("v1", "Secret", "s3", story.namespace), "data": data}
    story.cluster.admin.apply(manifest)
    story.manifests.append(manifest)


def test_cube_that_is_tried_again(
    begin: Begin, compile_specs: Compile, storage: Storage, way: Relay, kept: SnapshotAssertion
) -> None:
    """The store is away in the first attempt."""
    story = begin("story-cube")
    way.stop()
    _secret(story, f"http://127.0.0.1:{way.port}")
    story.pods.paused.add("transfer")
    story.apply(compile_specs(CUBE.replace("BUCKET", storage.bucket)))
    story.step("The transfer's container starts", "DataCube", "llama", phase="Running")
    story.pods.paused.clear()
    story.until(lambda: any(each.reported for each in story.pods.of("transfer")), what="the first attempt")
    story.pods.paused.add("transfer")
    story.step("The first attempt failed", "DataCube", "llama", Complete="ContainerFailed")
    way.start()
    story.pods.paused.clear()
    story.step("The second attempt came through", "DataCube", "llama", phase="Succeeded", Complete="Succeeded")
    assert [each.process.returncode for each in story.pods.of("transfer")] == [10, 0], story.pods.said()
    copied = story.pods.claims["models"] / "llama"
    assert (copied / "weights").read_bytes() == b"w" * 5000
    # The process may have made others for tests before.
    assert story.told_by_now().replace(storage.bucket, "<bucket>") == kept


def test_servers_and_workers_with_a_dataset(
    begin: Begin, compile_specs: Compile, storage: Storage, kept: SnapshotAssertion, tmp_path: Path
) -> None:
    """None of them has a pod until the dataset is there; the servers end with the workers."""
    story = begin("story-servers")
    _secret(story, storage.endpoint)
    story.pods.paused.add("sync")
    port = storage.endpoint.rpartition(":")[2]
    story.apply(compile_specs(SERVERS.replace("PORT", port).replace("BUCKET", storage.bucket)))
    story.step("The job waits for the dataset", "PaddleJob", "ctr", phase="Pending", Suspended="DatasetNotReady")
    assert not story.users_pods("ctr")
    story.pods.paused.clear()
    story.step("The dataset is there, and all train", "PaddleJob", "ctr", phase="Running")
    workers = story.users_pods("ctr")
    story.end(workers[:1])
    story.step("One worker is done", "PaddleJob", "ctr", phase="Running")
    story.end(workers[1:])
    story.step("Both workers are done", "PaddleJob", "ctr", phase="Completed")
    story.until(lambda: all(each.reported for each in story.pods.of("await")), what="the end of the servers")
    assert {each.process.returncode for each in story.pods.of("await")} == {0}
    assert {each.process.returncode for each in story.pods.of("wait-dataset")} == {0}
    assert (story.pods.claims["criteo"] / "day-1").read_bytes() == b"1" * 1000
    assert story.told_by_now() == kept
