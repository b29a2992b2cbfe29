"""Edits of training jobs: a run gets new names exactly if the server would refuse the edit of the old objects.

The compiler's prediction for each object under its old name equals the server's behaviour. There is one exception: the
size of an elastic job under Kueue starts a new run although the server would accept the change. Kueue writes that
field, so Argo CD leaves it alone. Here is one edit of each rule; `tests/nightly/cluster` has all others.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from stowplan.compiler.checks.history import immutability
from stowplan.compiler.kubernetes.fields import identity
from stowplan.compiler.model import OutputFile
from stowplan.library.values.labels import RUN_HASH
from stowplan.schema.meta import ObjectId
from tests.cluster import sync
from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.edits import accepts
from tests.cluster.shared import engine_crd
from tests.repositories import compiled
from tests.unit.compiler.checks.given import objects

_PLATFORM = """\
kind: Platform
defaultNamespace: {home}
images: {{registry: registry.example.com/ml, tag: "1"}}
juicefs: {{cacheSize: 1024}}
paddle: {{basePort: 36000, elasticServers: ["etcd.ml:2379"]}}
engines: {{jobs: {jobs}, gang: {gang}, queue: default, helperTimeoutSeconds: 300}}
policy: {{allow: [hostNetwork]}}
---
"""
_SERVERS = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data}
spec: {partitions: 3, noSync: true, secretRef: {name: volume}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: ctr, labels: {team: ads}, annotations: {stowplan.dev/run: "1"}}
spec:
  cleanPodPolicy: Never
  intranet: PodIP
  withGloo: 1
  schedulingPolicy: {minAvailable: 3}
  sampleSetRef: {name: data, mountPath: /data}
  ps:
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        automountServiceAccountToken: false
        containers: [{name: main, image: local/server}]
  worker:
    replicas: 3
    template:
      metadata: {annotations: {note: one, kwok.stowplan.dev/hold: "true"}}
      spec:
        restartPolicy: Never
        tolerations: [{key: gpu, operator: Exists}]
        containers: [{name: main, image: local/train, args: [train.py], env: [{name: A, value: one}]}]
"""
_ELASTIC = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data}
spec: {partitions: 3, noSync: true, secretRef: {name: volume}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: a-job-with-a-name-that-is-nearly-too-long, annotations: {stowplan.dev/run: "1"}}
spec:
  elastic: 1
  schedulingPolicy: {minAvailable: 1}
  sampleSetRef: {name: data, mountPath: /data}
  worker:
    replicas: 1
    template:
      metadata: {annotations: {kwok.stowplan.dev/hold: "true"}}
      spec: {containers: [{name: main, image: local/train}]}
"""


@dataclass(frozen=True)
class Edit:
    """A text is replaced. `renames` says whether the run gets a new name, on each job engine."""

    old: str
    new: str
    renames: Mapping[str, bool]


def _new_run(old: str, new: str, *, core: bool = True, jobset: bool = True) -> Edit:
    return Edit(old, new, {"core": core, "jobset": jobset})


def _same_run(old: str, new: str) -> Edit:
    return _new_run(old, new, core=False, jobset=False)


SERVERS = {
    "agent image": _new_run('tag: "1"', 'tag: "2"'),
    "helper's patience": _new_run("helperTimeoutSeconds: 300", "helperTimeoutSeconds: 600", jobset=False),
    "port": _new_run("basePort: 36000", "basePort: 36100"),
    "run": _new_run('run: "1"', 'run: "2"'),
    "label of the spec": _same_run("team: ads", "team: vision"),
    "clean-up": _same_run("cleanPodPolicy: Never", "cleanPodPolicy: OnFailure"),
    "network": _new_run("intranet: PodIP", "intranet: Host"),
    "names instead of addresses": _same_run("intranet: PodIP", "intranet: Service"),
    "gloo": _new_run("withGloo: 1", "withGloo: 2"),
    "least pods": _same_run("minAvailable: 3", "minAvailable: 4"),
    "place of the dataset": _new_run("mountPath: /data", "mountPath: /other"),
    "cache nodes": _same_run("partitions: 3", "partitions: 2"),
    "more servers": _new_run("replicas: 2", "replicas: 3"),
    "fewer workers": _new_run("replicas: 3", "replicas: 1"),
    "servers that restart": _new_run(
        "restartPolicy: Never\n        automount", "restartPolicy: OnFailure\n        automount", core=False
    ),
    "workers that restart": _new_run("restartPolicy: Never\n        toler", "restartPolicy: OnFailure\n        toler"),
    "server's image": _new_run("local/server", "local/server:2"),
    "worker's image": _new_run("local/train", "local/train:2"),
    "arguments": _new_run("train.py", "other.py"),
    "variable": _new_run("value: one", "value: two"),
    "annotation of pods": _new_run("note: one", "note: two"),
    "account": _new_run("automountServiceAccountToken: false", "serviceAccountName: trainer"),
}
RESIZED = {"two workers", "many workers", "least workers, and more of them"}
ELASTIC = {
    "run": _new_run('run: "1"', 'run: "2"'),
    "two workers": _same_run("replicas: 1", "replicas: 2"),
    "many workers": _same_run("replicas: 1", "replicas: 1234"),
    "image": _new_run("local/train", "local/train:2"),
    "no longer elastic": _new_run("elastic: 1\n", "cleanPodPolicy: Never\n"),
    "least workers, and more of them": _same_run(
        "minAvailable: 1}\n  sampleSetRef: {name: data, mountPath: /data}\n  worker:\n    replicas: 1",
        "minAvailable: 2}\n  sampleSetRef: {name: data, mountPath: /data}\n  worker:\n    replicas: 4",
    ),
}


@dataclass(frozen=True)
class Group:
    """A repository and the edits of it, on one pair of engines."""

    jobs: str
    gang: str
    specs: str
    edits: Mapping[str, Edit]

    @property
    def home(self) -> str:
        elastic = "-elastic" if self.specs is _ELASTIC else ""
        return f"edited-{self.jobs}-{self.gang}{elastic}"

    @property
    def text(self) -> str:
        return _PLATFORM.format(home=self.home, jobs=self.jobs, gang=self.gang) + self.specs


GROUPS = [
    Group("core", "none", _SERVERS, SERVERS),
    Group("core", "volcano", _SERVERS, SERVERS),
    Group("jobset", "none", _SERVERS, SERVERS),
    Group("jobset", "kueue", _SERVERS, SERVERS),
    Group("core", "none", _ELASTIC, ELASTIC),
    Group("core", "coscheduling", _ELASTIC, ELASTIC),
    Group("core", "kueue", _ELASTIC, ELASTIC),
]


def _compile(folder: Path, text: str) -> dict[str, OutputFile]:
    result = compiled(folder, {"specs.yaml": text})
    assert result.errors == []
    return {output.path: output for output in result.outputs}


CELLS = {f"{group.home}-{name}": (group, name) for group in GROUPS for name in group.edits}
SOME = [
    "edited-core-none-label of the spec",
    "edited-core-none-helper's patience",
    "edited-core-none-servers that restart",
    "edited-core-none-worker's image",
    "edited-core-volcano-least pods",
    "edited-jobset-none-helper's patience",
    "edited-jobset-none-servers that restart",
    "edited-core-none-elastic-two workers",
    "edited-core-kueue-elastic-two workers",
]
"""Those that are tried here: an edit that needs no new run, one on each job engine and one on both, and other sizes."""


@dataclass(frozen=True)
class Applied:
    """The objects of a group, which are in the cluster."""

    cluster: Cluster
    outputs: dict[str, OutputFile]


Apply = Callable[[Group], Applied]


@pytest.fixture(scope="module")
def apply(jobset_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apply]:
    """As `applying`."""
    yield from applying(jobset_cluster, tmp_path_factory)


def applying(jobset_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apply]:
    """Applies a group, once, in a namespace that lets all pods run; its objects go when all tests are over."""
    admin = jobset_cluster.admin
    for api in ("scheduling.volcano.sh", "scheduling.x-k8s.io"):
        sync.establish(admin, engine_crd(api, "PodGroup"))
    made: dict[str, Applied] = {}

    def once(group: Group) -> Applied:
        if group.home not in made:
            jobset_cluster.namespace(group.home, "privileged")
            admin.apply(ref("v1", "ServiceAccount", "trainer", group.home))
            outputs = _compile(tmp_path_factory.mktemp("before"), group.text)
            sync.apply(admin, [output.manifest.body for output in outputs.values()])
            made[group.home] = Applied(jobset_cluster, outputs)
        return made[group.home]

    yield once
    bodies = [output.manifest.body for each in made.values() for output in each.outputs.values()]
    sync.remove(admin, [each for each in bodies if each["kind"] != "CustomResourceDefinition"])


def _run(outputs: Mapping[str, OutputFile]) -> str:
    """The hash of the only run."""
    (run,) = {run for output in outputs.values() for run in _runs(output.manifest.body)}
    return run


def _runs(manifest: Manifest) -> Iterator[str]:
    spec = manifest.get("spec", {})
    roles = spec.get("replicatedJobs") or ([{"template": manifest}] if manifest["kind"] == "Job" else [])
    for role in roles:
        labels = role["template"]["spec"]["template"]["metadata"]["labels"]
        if RUN_HASH in labels:
            yield labels[RUN_HASH]


@pytest.mark.parametrize("cell", SOME)
def test_run_is_renamed_where_the_server_would_refuse(apply: Apply, cell: str, tmp_path: Path) -> None:
    assert_renamed(apply, cell, tmp_path)


def assert_renamed(apply: Apply, cell: str, folder: Path) -> None:
    """The run has a new name if the server would refuse the edit under the old one, and the compiler knows it."""
    group, name = CELLS[cell]
    applied = apply(group)
    edit, text = group.edits[name], group.text
    assert text.count(edit.old) == 1
    after = _compile(folder, text.replace(edit.old, edit.new))
    old_run, new_run = _run(applied.outputs), _run(after)
    renames = edit.renames[group.jobs]
    assert (old_run != new_run) is (renames or (group.gang == "kueue" and name in RESIZED))

    manifests = _renamed(after, new_run, old_run)
    refused = {identity(manifest) for manifest in manifests if not accepts(applied.cluster.admin, manifest)}
    assert bool(refused) is (renames and name != "run")
    written = {identity(output.manifest.body): output.manifest.body for output in applied.outputs.values()}
    assert _found(manifests, written) == refused


def _renamed(outputs: Mapping[str, OutputFile], run: str, other: str) -> list[Manifest]:
    """The objects as they would be if the edit left the run's names alone."""
    text = json.dumps([output.manifest.body for output in outputs.values()])
    manifests: list[Manifest] = json.loads(text.replace(run, other))
    return manifests


def _found(manifests: list[Manifest], written: Mapping[ObjectId, Manifest]) -> set[ObjectId]:
    return {found.object for found in immutability.check(objects(*manifests), written)}
