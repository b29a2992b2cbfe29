"""The quick start of the old operator from the user's view: commits, and the state in the cluster."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.library.values.labels import COMPONENT
from tests.cluster import sync
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.podman_node import PodmanNode
from tests.repositories import EXAMPLES

NAMESPACE, DATASET = "paddle-system", "imagenet"
BUCKET = "bos://paddleflow-public.hkg.bcebos.com/"
SOURCE_SECRET = "public-bucket"
GROUP = "batch.paddlepaddle.org/v1alpha1"
SECONDS = 240
"""What a step may take on a machine that others use too."""

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


def _key(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]


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


@dataclass
class QuickStart:
    """The user's repository, and what a step of the guide does with it."""

    cluster: Cluster
    node: PodmanNode
    repo: Path
    source: str
    platform: Manifest
    documents: list[Manifest] = field(default_factory=list)
    applied: dict[tuple[str, str], Manifest] = field(default_factory=dict)
    """What is in the cluster by kind and name: all is in one namespace or in none."""
    rows: list[dict[str, str]] = field(default_factory=list)

    def specs(self) -> dict[str, Manifest]:
        """Those of the example by name, with the bucket of the test; in the order of the guide's steps alone."""
        found = example_specs(self.source)
        del found["imagenet-warmup"]["metadata"]["annotations"]
        found[DATASET]["spec"]["source"]["secretRef"] = {"name": SOURCE_SECRET}
        found["imagenet-sync"]["spec"]["secretRef"] = {"name": SOURCE_SECRET}
        return found

    def commit(self, *documents: Manifest) -> None:
        """These specs are new or changed; what they compile to is applied, and what they no longer do is pruned."""
        names = [each["metadata"]["name"] for each in documents]
        self.documents = [each for each in self.documents if each["metadata"]["name"] not in names] + [*documents]
        (self.repo / "specs").mkdir(exist_ok=True)
        (self.repo / "stowplan.yaml").write_text(yaml.safe_dump(self.platform), encoding="utf-8")
        (self.repo / "specs" / "specs.yaml").write_text(yaml.safe_dump_all(self.documents), encoding="utf-8")
        result = CliRunner().invoke(app, ["synth", str(self.repo)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        paths = [path for path in (self.repo / "out").rglob("*.yaml") if "argocd" not in path.parts]
        manifests = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(paths)]
        before = self.applied
        self.applied = {_key(each): each for each in sync.apply(self.cluster.admin, manifests)}
        sync.remove(self.cluster.admin, [each for key, each in before.items() if key not in self.applied])

    def run(self, job: Manifest) -> None:
        """Commits a SampleJob that is to run, and waits until it is done."""
        job["spec"]["terminate"] = False
        self.commit(job)
        self.await_phase("SampleJob", job["metadata"]["name"], "Succeeded")

    def begin_scheduled(self, name: str, run: str) -> None:
        """Makes a Job of the CronJob of a spec."""
        crons = self.cluster.admin.list("batch/v1", "CronJob", NAMESPACE, f"stowplan.dev/name={name}")
        (cron,) = (each for each in crons if "warmup" not in each["metadata"]["name"])
        template, metadata = cron["spec"]["jobTemplate"], cron["metadata"]
        owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": metadata["name"], "uid": metadata["uid"]}
        job = ref("batch/v1", "Job", f"{metadata['name']}-{run}", NAMESPACE)
        job["metadata"] |= {
            "labels": template["metadata"].get("labels"),
            "ownerReferences": [owner | {"controller": True}],
        }
        self.cluster.admin.create({**job, "spec": template["spec"]})

    def complaint(self, name: str) -> str:
        """What the conditions of a SampleJob say."""
        return " ".join(each.get("message", "") for each in self.status("SampleJob", name)["conditions"])

    def await_codes(self, name: str, codes: str) -> None:
        self._until(lambda: self.codes(name) == codes, f"{codes} of {name}")

    def status(self, kind: str, name: str) -> dict[str, Any]:
        version = "batch.paddlepaddle.org/v1" if kind == "PaddleJob" else GROUP
        found: dict[str, Any] = self.cluster.admin.get(ref(version, kind, name, NAMESPACE)).get("status") or {}
        return found

    def await_phase(self, kind: str, name: str, phase: str) -> None:
        self._until(lambda: self.status(kind, name).get("phase") == phase, f"{kind} {name} {phase}")

    def await_condition(self, kind: str, name: str, condition: str, status: str) -> None:
        def holds() -> bool:
            conditions = self.status(kind, name).get("conditions", ())
            return (condition, status) in {(each["type"], each["status"]) for each in conditions}

        self._until(holds, f"{condition}={status} of {kind} {name}")

    def await_cache(self, files: int, *, cached: str) -> None:
        """Until the SampleSet tells this many files, `all` or `none` or `some` of them in the cache, or `any`."""

        def holds() -> bool:
            cache = self.status("SampleSet", DATASET).get("cacheStatus") or {}
            total, there = cache.get("totalSize"), cache.get("cachedSize")
            share = "all" if there == total else "none" if there == "0 B" else "some"
            return cache.get("totalFiles") == str(files) and cached in (share, "any")

        self._until(holds, f"{files} files, {cached} cached")

    def tell(self, step: str, name: str, role: str = "") -> None:
        """One more row of the transcript: what the containers of a spec ended with, and what `kubectl get` prints."""
        cells = {"step": step, "exit codes": self.codes(name, role)}
        admin = self.cluster.admin
        path = admin.path(ref(GROUP, "SampleSet", DATASET, NAMESPACE))
        table = admin.http.get(path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}).json()
        names = [each["name"] for each in table["columnDefinitions"]]
        (row,) = table["rows"]
        printed = dict(zip(names, row["cells"], strict=True))
        cache = self.status("SampleSet", DATASET)["cacheStatus"]
        cells |= {name: str(value) for name, value in printed.items() if name not in ("Name", "AGE")}
        cells |= {name: cache[name] for name in ("totalFiles", "diskSize", "diskUsed", "diskUsageRate")}
        assert "errorMassage" not in cache
        self.rows.append(cells)

    def pods(self, name: str, role: str = "") -> list[Manifest]:
        """Of a spec, or of one of its roles, oldest first."""
        labels = f"stowplan.dev/name={name}" + (f",stowplan.dev/role={role}" if role else "")
        found = self.cluster.admin.list("v1", "Pod", NAMESPACE, labels)
        return sorted(found, key=lambda each: str(each["metadata"]["creationTimestamp"]))

    def codes(self, name: str, role: str = "") -> str:
        """What the containers of pods ended with."""
        lists = ("initContainerStatuses", "containerStatuses")
        # Pods of one second have no order but that of their names, which end in hashes.
        ordered = sorted(self.pods(name, role), key=lambda each: str(each["metadata"]["labels"].get(COMPONENT)))
        pods = [pod.get("status", {}) for pod in ordered]
        found = [each for pod in pods for kind in lists for each in pod.get(kind, ())]
        ended = [(each["name"], each["state"]["terminated"]) for each in found if "terminated" in each["state"]]
        return ", ".join(f"{name} {state['exitCode']}" for name, state in ended)

    def transcript(self) -> str:
        """The rows as a table of Markdown."""
        names = list(self.rows[0])
        lines = [names, ["---"] * len(names), *([row[name] for name in names] for row in self.rows)]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        def asked() -> bool:
            assert not self.node.faults, self.node.faults
            return holds()

        try:
            wait_for(asked, SECONDS, what=what)
        except TimeoutError as error:
            raise AssertionError(f"{error}\n{json.dumps(self.status('SampleSet', DATASET), indent=1)}") from None
