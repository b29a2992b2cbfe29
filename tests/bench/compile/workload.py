"""The specs to compile: each has 17 lines and results in 8 objects.

Half are DataCubes, half are MxJobs with three roles. Names, namespaces and users' strings differ between specs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OBJECTS = 8
"""Objects that one spec compiles to, whichever its kind."""

NAMESPACES = 10

PLATFORM = """\
apiVersion: stowplan.dev/v1alpha1
kind: Platform
images:
  registry: registry.example.com/ml
argocd:
  name: bench
  repoURL: https://git.example.com/ml/bench.git
  path: out
"""

CUBE = """\
apiVersion: tensorstack.dev/v1beta1
kind: DataCube
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  source:
    type: s3
    options:
      - {{name: s3-endpoint, value: {endpoint}}}
      - {{name: s3-uri, value: {uri}}}
      - {{name: s3-access-key-id, valueFrom: {{secretKeyRef: {{name: s3, key: id}}}}}}
      - {{name: s3-secret-access-key, valueFrom: {{secretKeyRef: {{name: s3, key: secret}}}}}}
  sink:
    type: pvc
    pvc:
      name: {name}
      template: {{spec: {{accessModes: [ReadWriteMany], resources: {{requests: {{storage: {size}}}}}}}}}
  executor: {{options: {{totalDeadlineSeconds: {deadline}}}}}
"""

MX = """\
apiVersion: mxnet.mlkube.io/v1beta1
kind: MxJob
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  jobMode: dist
  replicaSpecs:
    - mxReplicaType: SCHEDULER
      template:
        spec: {{restartPolicy: Never, containers: [{{name: mxnet, image: {image}, command: [python, {script}]}}]}}
    - mxReplicaType: SERVER
      replicas: {servers}
      template:
        spec: {{restartPolicy: Never, containers: [{{name: mxnet, image: {image}, command: [python, {script}]}}]}}
    - mxReplicaType: WORKER
      replicas: {workers}
      template:
        spec: {{restartPolicy: Never, containers: [{{name: mxnet, image: {image}, command: [python, {script}]}}]}}
"""

Value = str | int
Place = tuple[str | int, ...]
"""Keys and indexes that lead to a value of a document."""

_OPTIONS: Place = ("spec", "source", "options")
_WORKER: Place = ("spec", "replicaSpecs", 2)
PLACES: Mapping[str, Mapping[str, Place]] = {
    "DataCube": {
        "name": ("metadata", "name"),
        "namespace": ("metadata", "namespace"),
        "endpoint": (*_OPTIONS, 0, "value"),
        "uri": (*_OPTIONS, 1, "value"),
        "size": ("spec", "sink", "pvc", "template", "spec", "resources", "requests", "storage"),
        "deadline": ("spec", "executor", "options", "totalDeadlineSeconds"),
    },
    "MxJob": {
        "name": ("metadata", "name"),
        "namespace": ("metadata", "namespace"),
        "image": (*_WORKER, "template", "spec", "containers", 0, "image"),
        "script": (*_WORKER, "template", "spec", "containers", 0, "command", 1),
        "servers": ("spec", "replicaSpecs", 1, "replicas"),
        "workers": (*_WORKER, "replicas"),
    },
}
"""Where the values of a spec are, by kind; the file of the spec, `file`, is one more."""


@dataclass(frozen=True)
class Spec:
    """One file below `specs/`."""

    kind: str
    values: Mapping[str, Value]

    @property
    def file(self) -> str:
        return f"specs/{self.values['namespace']}/{self.values['name']}.yaml"

    @property
    def text(self) -> str:
        return (CUBE if self.kind == "DataCube" else MX).format(**self.values)


def specs(count: int) -> Iterator[Spec]:
    """So many different ones."""
    for number in range(count):
        namespace = f"team-{number % NAMESPACES}"
        yield cube(number, namespace) if number % 2 == 0 else mx_job(number, namespace)


def cube(number: int, namespace: str, edit: int = 0) -> Spec:
    """A transfer from S3 into a claim of its own. `edit` makes another source of it."""
    values: dict[str, Value] = {
        "name": f"model-{number:06}",
        "namespace": namespace,
        "endpoint": f"https://s3-{number % 3}.example.com",
        "uri": f"s3://models/{number:06}/{edit}/",
        "size": f"{10 + number % 7}Gi",
        "deadline": 7200 + number % 11,
    }
    return Spec("DataCube", values)


def mx_job(number: int, namespace: str) -> Spec:
    """A training with parameter servers."""
    values: dict[str, Value] = {
        "name": f"train-{number:06}",
        "namespace": namespace,
        "image": f"registry.example.com/ml/train:{number % 5}",
        "script": f"train_{number % 13}.py",
        "servers": 1 + number % 3,
        "workers": 2 + number % 9,
    }
    return Spec("MxJob", values)


def write(repo: Path, wanted: Sequence[Spec]) -> None:
    """A repository with these specs."""
    (repo / "specs").mkdir(parents=True)
    (repo / "stowplan.yaml").write_text(PLATFORM, encoding="utf-8")
    for spec in wanted:
        path = repo / spec.file
        path.parent.mkdir(exist_ok=True)
        path.write_text(spec.text, encoding="utf-8")


def edit(repo: Path, number: int) -> None:
    """Gives the first spec another source."""
    spec = cube(0, "team-0", number)
    (repo / spec.file).write_text(spec.text, encoding="utf-8")
