"""Edits of specs and platform: objects that change in place, get a new name, or are refused by the server.

The compiler's prediction for each object equals the server's behaviour. Here is one edit of each kind of outcome;
`tests/nightly/cluster` has all others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stowplan.compiler.checks.history import immutability
from stowplan.compiler.kubernetes.fields import identity
from stowplan.compiler.model import OutputFile
from stowplan.schema.meta import ObjectId
from tests.cluster import sync
from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster
from tests.cluster.edits import accepts
from tests.repositories import compiled
from tests.unit.compiler.checks.given import objects

NAMESPACE = "edited"
REPOSITORY = f"""\
kind: Platform
defaultNamespace: {NAMESPACE}
images: {{registry: registry.example.com/ml, tag: "1"}}
juicefs: {{taskDeadlineSeconds: 600, cacheSize: 1024}}
network: {{egress: [{{cidr: 10.0.0.0/8}}]}}
names: namespaced
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {{name: data, annotations: {{stowplan.dev/run: "1"}}}}
spec:
  partitions: 2
  source: {{uri: "s3://bucket/one"}}
  secretRef: {{name: volume}}
  csi: {{juiceFSMountOptions: {{buffer-size: 300}}}}
  tolerations: [{{key: gpu, operator: Exists}}]
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: nightly}}
spec:
  type: warmup
  sampleSetRef: {{name: data}}
  schedule: 0 3 * * *
  warmupOptions: {{paths: [one]}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: tidy}}
spec:
  type: rmr
  sampleSetRef: {{name: data}}
  terminate: false
  rmrOptions: {{paths: [old]}}
"""
_NOTHING: frozenset[str] = frozenset()
_JOBS = frozenset({"Job"})
_RUNS = frozenset({"Job", "ConfigMap"})


@dataclass(frozen=True)
class Change:
    """A text of the repository is replaced, and what kinds of objects are renamed or refused then."""

    old: str
    new: str
    renamed: frozenset[str] = _NOTHING
    refused: frozenset[str] = _NOTHING


CHANGES = {
    "agent image": Change('tag: "1"', 'tag: "2"', renamed=_JOBS),
    "deadline of tasks": Change("Seconds: 600", "Seconds: 900", renamed=frozenset({"ConfigMap"})),
    "cache size": Change("cacheSize: 1024", "cacheSize: 2048", renamed=frozenset({"ConfigMap"})),
    "network": Change("10.0.0.0/8", "192.0.2.0/24"),
    "names": Change(
        "names: namespaced",
        "names: upstream",
        renamed=_JOBS,
        refused=frozenset({"PersistentVolumeClaim", "StatefulSet"}),
    ),
    "run": Change('run: "1"', 'run: "2"', renamed=_JOBS),
    "more partitions": Change("partitions: 2", "partitions: 3", renamed=_RUNS),
    "fewer partitions": Change("partitions: 2", "partitions: 1", renamed=_RUNS),
    "source": Change("bucket/one", "bucket/two", renamed=_RUNS),
    "volume's Secret": Change("name: volume", "name: other", renamed=_JOBS, refused=frozenset({"PersistentVolume"})),
    "mount option": Change("buffer-size: 300", "buffer-size: 600", renamed=frozenset({"ConfigMap"})),
    "tolerations": Change("key: gpu", "key: tpu", renamed=_JOBS),
    "schedule": Change("0 3 * * *", "0 4 * * *"),
    "paths of a scheduled task": Change("paths: [one]", "paths: [two]", renamed=frozenset({"ConfigMap"})),
    "paths of a task": Change("paths: [old]", "paths: [older]", renamed=_RUNS),
    "suspend": Change("terminate: false", "terminate: true"),
}


SOME: dict[tuple[frozenset[str], frozenset[str]], str] = {}
"""The first change of each outcome."""
for _name, _change in CHANGES.items():
    SOME.setdefault((_change.renamed, _change.refused), _name)


def _compile(folder: Path, text: str) -> dict[str, OutputFile]:
    result = compiled(folder, {"specs.yaml": text})
    assert result.errors == []
    return {output.path: output for output in result.outputs}


@pytest.fixture(scope="module")
def before(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, OutputFile]]:
    """The outputs by path."""
    yield from applied(cluster, tmp_path_factory.mktemp("before"))


def applied(cluster: Cluster, folder: Path) -> Iterator[dict[str, OutputFile]]:
    """The outputs by path, applied in namespaces that let agents run."""
    cluster.namespace(NAMESPACE)
    outputs = _compile(folder, REPOSITORY)
    manifests = [output.manifest.body for output in outputs.values()]
    sync.apply(cluster.admin, manifests)
    yield outputs
    for manifest in manifests:
        if manifest["kind"] != "CustomResourceDefinition":
            cluster.admin.delete(manifest)


@pytest.mark.parametrize("name", SOME.values())
def test_server_does_what_the_compiler_says(
    cluster: Cluster, before: dict[str, OutputFile], name: str, tmp_path: Path
) -> None:
    assert_predicted(cluster, before, CHANGES[name], tmp_path)


def assert_predicted(cluster: Cluster, before: dict[str, OutputFile], change: Change, folder: Path) -> None:
    """The server renames and refuses what the change says, and the compiler finds what it refuses."""
    assert REPOSITORY.count(change.old) == 1
    after = _compile(folder, REPOSITORY.replace(change.old, change.new))
    written = {identity(output.manifest.body): output.manifest.body for output in before.values()}
    moved = [(output.manifest, before[path].manifest) for path, output in after.items() if path in before]
    assert {new.kind for new, old in moved if new.name != old.name} == change.renamed

    manifests = [output.manifest.body for output in after.values()]
    refused = [manifest for manifest in manifests if not accepts(cluster.admin, manifest)]
    assert {manifest["kind"] for manifest in refused} == change.refused
    assert _found(manifests, written) == {identity(manifest) for manifest in refused}


def _found(manifests: list[Manifest], written: dict[ObjectId, Manifest]) -> set[ObjectId]:
    return {found.object for found in immutability.check(objects(*manifests), written)}
