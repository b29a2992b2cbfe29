"""A small repository, and many kinds of edits of it."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.repositories import lay_out
from tests.unit.outputs import in_one_file

SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: extra, namespace: ml}\nstringData: {}\n"
SET = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: NAME, namespace: ml}
spec:
  partitions: 1
  source: {uri: "s3://bucket/NAME/", secretRef: {name: data}}
  secretRef: {name: data}
  csi: {juiceFSMountOptions: {sub-dir: NAME}}
"""
JOB = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: NAME-warm, namespace: ml}
spec:
  type: warmup
  sampleSetRef: {name: NAME}
"""
PADDLE = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: train-NAME, namespace: ml}
spec:
  sampleSetRef: {name: NAME, mountPath: /data}
  worker:
    replicas: 1
    template: {spec: {containers: [{name: paddle, image: "registry.example.com/train:1"}]}}
"""
PASSING = 'images: {registry: registry.example.com/ml, tag: "1"}\npassThrough: [{group: "", kind: Secret}]\n'

KINDS = {"set": SET, "job": JOB, "train": PADDLE}


def spec(repo: Path, name: str) -> Path:
    return repo / "specs" / f"{name}.yaml"


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink()


def lay_out_sets_and_jobs(repo: Path) -> None:
    """Two datasets, each with a task and a training job."""
    files = {f"{name}-{kind}.yaml": text.replace("NAME", name) for name in ("a", "b") for kind, text in KINDS.items()}
    lay_out(repo, files)
    (repo / "stowplan.yaml").write_text(PASSING)


EDITS: dict[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "job": lambda r: replace(spec(r, "a-train"), "train:1", "train:2"),
    "comment": lambda r: replace(spec(r, "a-set"), "kind", "# A comment\nkind"),
    "dataset": lambda r: replace(spec(r, "a-set"), "s3://bucket/a", "s3://bucket/c"),
    "removal": lambda r: spec(r, "a-train").unlink(),
    "new job": lambda r: spec(r, "c-train").write_text(PADDLE.replace("NAME", "c").replace("{name: c,", "{name: a,")),
    "another file": lambda r: spec(r, "a-train").rename(spec(r, "z")),
    "note": lambda r: (r / "specs/notes.txt").write_text(""),
    "second job": lambda r: spec(r, "both").write_text(JOB.replace("NAME", "b").replace("b-warm", "other")),
}
"""Edits that affect only some of the specs."""

OTHER_EDITS: dict[str, Callable[[Path], object]] = {
    "no dataset": lambda r: spec(r, "a-set").unlink(),
    "renamed dataset": lambda r: replace(spec(r, "a-set"), "name: a,", "name: d,"),
    "wrong value": lambda r: replace(spec(r, "a-job"), "warmup", "warmdown"),
    "twice": lambda r: spec(r, "copy").write_text(spec(r, "a-job").read_text()),
    "first of two": lambda r: spec(r, "0").write_text(spec(r, "a-set").read_text()),
    "no YAML": lambda r: spec(r, "odd").write_text("kind: [\n"),
    "no UTF-8": lambda r: spec(r, "a-train").write_bytes(b"\xff"),
    "plain object": lambda r: spec(r, "plain").write_text(SECRET),
    "lacking keys": lambda r: spec(r, "plain").write_text(SECRET.replace("extra", "data")),
    "platform": lambda r: replace(r / "stowplan.yaml", "ml,", "ai,"),
    "unknown dataset": lambda r: replace(spec(r, "b-train"), "{name: b, ", "{name: nowhere, "),
    "new dataset": lambda r: spec(r, "c-set").write_text(SET.replace("NAME", "c")),
    "nothing left": lambda r: remove((r / "specs").iterdir()),
    "lost output": lambda r: next((r / "out").rglob("job-*.yaml")).unlink(),
    "lost inventory": lambda r: shutil.rmtree(r / "out/_inventory"),
    "lost inventory of a spec": lambda r: next((r / "out").rglob("sampleset-*.jsonl")).unlink(),
    "inventory of 0.1.0": lambda r: in_one_file(r / "out"),
}
