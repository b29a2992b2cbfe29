"""No input makes the command fail: for any file content it reports diagnostics with positions in the files.

Valid specs, plain objects and platform files are changed at random places; raw strings are cut, joined and garbled.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.locations import LINE_BREAK
from stowplan.schema.codes import CATALOGUE
from tests.tier import STEPS

PLATFORM = """\
apiVersion: stowplan.dev/v1alpha1
kind: Platform
kubernetesVersion: "1.35"
defaultNamespace: vision
images: {registry: registry.example.com/ml, tag: "1"}
juicefs: {clientVersion: "1.4", cacheSize: 2048, taskUser: 65532}
argocd: {repoURL: https://git.example.com/ml/data.git, name: data, destination: {namespaces: ["*"]}}
policy: {unknownFields: error, crossNamespaceTasks: true, allow: [hostNetwork]}
namespaces: {emit: true, podSecurity: privileged}
network: {egress: [{cidr: 10.0.0.0/8, ports: [443]}]}
passThrough:
  - kind: ConfigMap
  - kind: PersistentVolumeClaim
  - kind: PersistentVolume
  - {group: batch, kind: Job}
  - {group: apiextensions.k8s.io, kind: CustomResourceDefinition}
  - {group: external-secrets.io, kind: ExternalSecret}
"""

SPECS = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: imagenet, namespace: vision, labels: {team: vision}, annotations: {stowplan.dev/run: "1"}}
spec:
  partitions: 2
  source: {uri: s3://imagenet.example.com/train/, secretRef: {name: source}}
  secretRef: {name: imagenet}
  csi: {driver: juicefs, juiceFSMountOptions: {free-space-ratio: "0.2", open-cache: 60, sub-dir: train}}
  cache: {levels: [{mediumType: SSD, path: "/data/a:/data/b", cacheSize: 1024}]}
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: In, values: [a100]}]}]
  tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: copy, namespace: vision}
spec:
  type: sync
  sampleSetRef: {name: imagenet}
  secretRef: {name: source}
  syncOptions: {source: s3://imagenet.example.com/more/, destination: more, threads: 10, exclude: "*.tmp"}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: warm, namespace: vision}
spec:
  type: warmup
  sampleSetRef: {name: imagenet}
  schedule: 0 3 * * 1-5
  timeZone: Europe/Berlin
  warmupOptions: {paths: [train], threads: 10, strategyName: random}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: clean, namespace: vision}
spec: {type: clear, sampleSetRef: {name: imagenet}, clearOptions: {paths: [/data/a, /data/b]}, terminate: true}
---
apiVersion: paddlepaddle.org/v1
kind: TrainingJob
metadata: {name: words, namespace: vision}
spec:
  image: example.com/words:1
  fault_tolerant: true
  host_network: true
  frame_work: {name: tensorflow, type: multi}
  trainer_port: 7300
  trainer_ports_num: 2
  annotations: {priority: high, walltime: 60}
  volumes: [{name: data, persistentVolumeClaim: {claimName: imagenet}}]
  VolumeMounts: [{name: data, mountPath: /data}]
  master: {etcd-endpoint: "http://etcd:2379", resources: {limits: {cpu: 1}}}
  pserver: {min-instance: 2, envs: {A: b}, node_selector: {pool: cpu}, tolerations: [{key: cpu, operator: Exists}]}
  trainer: {Min-Instance: 2, passes: 3, entrypoint: "python train.py 'a b'", workspace: /w, pre_stop_cmd: [/stop]}
---
apiVersion: mxnet.mlkube.io/v1beta1
kind: MxJob
metadata: {name: cifar, namespace: vision}
spec:
  jobMode: dist
  replicaSpecs:
    - {mxReplicaType: SCHEDULER, PsRootPort: 9000, template: &mx {spec: {containers: [{name: mxnet, image: "mx:1"}]}}}
    - {mxReplicaType: SERVER, replicas: 2, template: *mx}
    - {replicas: 2, template: *mx}
---
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata: {name: c4, namespace: vision}
spec: {volume: {juicefs: {secretRef: {name: imagenet}}}, cache: {nodes: 2, tiers: [{path: /data/c4, size: 1Gi}]}}
---
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: sft, namespace: vision}
spec:
  framework: torch
  image: example.com/sft:1
  command: [torchrun, train.py]
  env: [{name: SEED, value: "1"}]
  envFrom: [{configMapRef: {name: settings}}]
  numNodes: 2
  numProcPerNode: gpu
  resourcesPerNode: {limits: {nvidia.com/gpu: 8, memory: 1Gi}}
  shmSize: 1Gi
  datasets: [{name: c4, mountPath: /data, readOnly: false}]
  elastic: {min: 1, max: 4}
  activeDeadlineSeconds: 60
  template:
    metadata: {labels: {team: nlp}}
    spec:
      containers: [{name: trainer, workingDir: /src}, {name: logs, image: "example.com/logs:1", $patch: merge}]
      volumes: [{name: scratch, emptyDir: {}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, annotations: {argocd.argoproj.io/sync-wave: "0"}}
data: {mode: fast}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch, annotations: {argocd.argoproj.io/sync-options: "Prune=false,Delete=false"}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: "", volumeName: scratch}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: scratch, annotations: {argocd.argoproj.io/sync-options: "Prune=false,Delete=false"}}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  storageClassName: ""
  claimRef: {name: scratch, namespace: vision}
  csi: {driver: csi.example.com, volumeHandle: scratch}
---
apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: report, image: "example.com/report:1", envFrom: [{configMapRef: {name: settings}}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: imagenet}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: imagenet, annotations: {argocd.argoproj.io/sync-options: SkipDryRunOnMissingResource=true}}
spec:
  target: {name: imagenet}
  data: [{secretKey: name}, {secretKey: metaurl}, {secretKey: bucket}, {secretKey: storage}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com, annotations: {argocd.argoproj.io/sync-options: "Prune=false,Delete=false"}}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""


def keys_of(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from node
    for below in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from keys_of(below)


BASES = [*yaml.safe_load_all(SPECS)]
KEYS = sorted({key for document in [*BASES, yaml.safe_load(PLATFORM)] for key in keys_of(document)})

ODD_TEXTS = [
    "", " ", "/", "..", "a/../b", "a\nb", "a" * 300, "-a", "A_b", "é", "名前", "\x85", "\u2028", "\ufeff", "\U0001f511",
    "<name>", "<A_NAME>", "{{ x }}", "0", "-1", "1.5", "1e400", "null", "*", "a:b", ":", "s3://", "s3://u:p@b/c",
    "http://a.b.c.d/", "@daily", "@every 1h", "61 * * * *", "*/0 * * * *", "0 0 * * 7", "TZ=UTC 0 0 * * *",
    "imagenet", "scratch", "vision", "argocd", "crds", "_cluster", "kube-system", "v1", "Job", "SampleSet", "memory",
    "trainer", "$patch", "delete", "replace",
]  # fmt: skip

MARKS = ["\t", "- ", "{", "]", "&a ", "*a", "!!x ", "|", "'", ": ", "\n---\n"]

texts = st.sampled_from(ODD_TEXTS) | st.text(st.characters(codec="utf-8"), max_size=20)
scalars = (
    texts
    | st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([2**31, -(2**63), 2**64, 10**400])
    | st.floats(allow_nan=True, allow_infinity=True)
)
names = st.sampled_from(KEYS) | texts
anything = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(names, below, max_size=3),
    max_leaves=5,
)


@st.composite
def changed(draw: st.DrawFn, documents: list[Any]) -> list[Any]:
    """The documents after one to three changes at random places."""
    root = deepcopy(documents)
    for _ in range(draw(st.integers(1, 3))):
        change(draw, root)
    return root


def change(draw: st.DrawFn, root: list[Any]) -> None:
    holders = [node for node in nodes(root) if node]
    if not holders:
        return
    holder = draw(st.sampled_from(holders))
    place = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    match draw(st.sampled_from(["replace", "drop", "double", "rename", "add", "move"])):
        case "drop":
            del holder[place]
        case "double" if isinstance(holder, list):
            holder.append(deepcopy(holder[place]))
        case "rename" if isinstance(holder, dict):
            holder[draw(names | st.just(place[:-1]))] = holder.pop(place)
        case "add" if isinstance(holder, dict):
            holder[draw(names)] = draw(anything)
        case "move":
            holder[place] = deepcopy(draw(st.sampled_from([*nodes(root)])))
        case _:
            holder[place] = draw(anything)


def nodes(node: Any) -> Iterator[Any]:
    """All mappings and lists, outermost first."""
    if isinstance(node, dict | list):
        yield node
        for below in node.values() if isinstance(node, dict) else node:
            yield from nodes(below)


@st.composite
def garbled(draw: st.DrawFn, text: str) -> str:
    """The text after some pieces of it were cut out, doubled or replaced."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 12))
        piece = draw(st.sampled_from(["", text[start:end] * 2, *MARKS]) | texts)
        text = text[:start] + piece + text[end:]
    return text


def written(documents: list[Any]) -> str:
    return yaml.safe_dump_all(documents, allow_unicode=True, sort_keys=False)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repo")
    (folder / "specs").mkdir()
    return folder


def judged(repo: Path, specs: str, platform: str = PLATFORM) -> None:
    """Validate, and hold what the command promises whatever it reads."""
    written_files = {"stowplan.yaml": platform, "specs/a.yaml": specs}
    for name, text in written_files.items():
        (repo / name).write_bytes(text.encode())
    result = CliRunner().invoke(app, ["validate", str(repo), "--format", "json"], catch_exceptions=False)
    diagnostics = json.loads(result.stdout)["diagnostics"]
    assert result.exit_code == int(any(found["severity"] == "error" for found in diagnostics))
    for found in diagnostics:
        assert found["code"] in CATALOGUE
        assert found["message"]
        assert found["hint"]
        lines = LINE_BREAK.split({**written_files, "specs": ""}[found["file"]].removeprefix("\ufeff"))
        assert 1 <= found["line"] <= len(lines)
        assert 1 <= found["column"] <= len(lines[found["line"] - 1]) + 1
    places = [(found["severity"] == "info", found["file"], found["line"], found["column"]) for found in diagnostics]
    assert places == sorted(places)


bounded = settings(
    max_examples=STEPS, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
"""The landing tier reads the same few inputs each time."""


def test_what_is_changed_here_is_valid(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM)
    (repo / "specs/a.yaml").write_text(SPECS)
    result = CliRunner().invoke(app, ["validate", str(repo)])
    assert result.exit_code == 0, result.output


@bounded
@given(documents=changed(BASES))
def test_no_spec_makes_the_command_fail(repo: Path, documents: list[Any]) -> None:
    judged(repo, written(documents))


@bounded
@given(documents=changed([yaml.safe_load(PLATFORM)]))
def test_no_platform_file_makes_the_command_fail(repo: Path, documents: list[Any]) -> None:
    judged(repo, SPECS, written(documents))


@bounded
@given(specs=garbled(SPECS) | texts, platform=st.just(PLATFORM) | garbled(PLATFORM) | texts)
def test_no_text_makes_the_command_fail(repo: Path, specs: str, platform: str) -> None:
    judged(repo, specs, platform)
