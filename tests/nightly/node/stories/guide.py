"""The specs of the old operator's guide and of our example of it, and the samples in their bucket."""

import random

import yaml

from tests.cluster.client import Manifest
from tests.repositories import EXAMPLES

NAMESPACE, DATASET = "paddle-system", "imagenet"
BUCKET = "bos://paddleflow-public.hkg.bcebos.com/"
SOURCE_SECRET = "public-bucket"
GROUP = "batch.paddlepaddle.org/v1alpha1"

DEMO = {"n01440764": 10, "n01514859": 6}
WHOLE = {"n01440764": 14, "n01514859": 12, "n02102040": 9, "n03000684": 11}
"""Samples of each class, in the part of the bucket that the dataset begins with, and in all of it."""

READ = """
import hashlib, json, pathlib
root = pathlib.Path("/mnt/imagenet")
files = sorted(path for path in root.glob("n*/*.JPEG"))
print(json.dumps({path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}))
"""
GUIDE = """
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: ps-demo
  namespace: paddle-system
spec:
  sampleSetRef:
    # Declare the SampleSet to be used
    name: imagenet
    # The mounting path of the SampleSet in the Worker Pods
    mountPath: /mnt/imagenet
  worker:
    replicas: 1
    template:
      spec:
        containers:
          - name: sample
            image: nginx
  ps:
    replicas: 1
    template:
      spec:
        containers:
          - name: sample
            image: nginx
"""
"""The job of paddle-operator's guide, `docs/en/ext-get-start.md`. Its server never listens on the port of a server."""


def training() -> Manifest:
    """The job of the guide, word for word."""
    found: Manifest = yaml.safe_load(GUIDE)
    return found


def reading() -> Manifest:
    """The job of the guide with a worker that reads all samples, once they are in the cache, and ends."""
    job = training()
    job["spec"]["sampleSetRef"]["wait"] = {"until": "warmed"}
    job["spec"]["worker"]["template"] = _pod(READ)
    return job


def _pod(script: str) -> Manifest:
    image = "registry.example.com/ml/python:3"
    return {"spec": {"containers": [{"name": "sample", "image": image, "command": ["python3", "-c", script]}]}}


def example_specs(bucket: str = BUCKET) -> dict[str, Manifest]:
    """Of the example, by name, with another bucket."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((EXAMPLES[DATASET] / "specs").glob("*.yaml"))]
    documents = [each for text in texts for each in yaml.safe_load_all(text.replace(BUCKET, bucket))]
    return {each["metadata"]["name"]: each for each in documents}


def sample(name: str, number: int) -> bytes:
    return random.Random(f"{name}/{number}").randbytes(97_000 + 1_000 * number)  # noqa: S311 - the same in each run


def samples(classes: dict[str, int], prefix: str = "") -> dict[str, bytes]:
    return {
        f"{prefix}{name}/{name}_{number}.JPEG": sample(name, number)
        for name, count in classes.items()
        for number in range(count)
    }
