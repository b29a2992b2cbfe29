"""A Git repository with compiled runs, and an attacker's changes of its committed output."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import yaml
from typer.testing import CliRunner, Result

from stowplan.compiler.cli import app
from stowplan.compiler.output import inventory
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.compiler.yaml.emitter import emit
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId
from tests.unit.outputs import list_files

FILES = {
    "stowplan.yaml": """\
images: {registry: registry.example.com/ml, tag: "1"}
argocd: {repoURL: https://git.example.com/ml/data.git}
""",
    "specs/imagenet.yaml": """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: imagenet, namespace: ml}
spec:
  partitions: 1
  source: {uri: "s3://bucket/imagenet", secretRef: {name: source}}
  secretRef: {name: volume}
""",
    "specs/quiet.yaml": """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: quiet, namespace: ml}
spec: {partitions: 1, noSync: true, secretRef: {name: quiet}}
""",
    "specs/train.yaml": """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: train, namespace: ml}
spec:
  sampleSetRef: {name: imagenet, mountPath: /data}
  worker:
    replicas: 1
    template: {spec: {containers: [{name: worker, image: "registry.example.com/ml/train:1"}]}}
""",
}
SYNC = "ml/sampleset-imagenet/job-imagenet-sync.yaml"


@dataclass(frozen=True)
class Repository:
    """`folder` is a Git repository."""

    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def git(self, *words: str) -> str:
        command = ["git", "-C", str(self.folder), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, message: str = "x") -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def run(self, command: str, *options: str) -> Result:
        return CliRunner().invoke(app, [command, str(self.folder), *options])

    def check(self, base: str | None = "HEAD") -> Result:
        return self.run("synth", "--check", *(["--base", base] if base else []))

    def edit(self, file: str, before: str, after: str) -> None:
        text = (self.folder / file).read_text()
        assert before in text
        (self.folder / file).write_text(text.replace(before, after))

    def entries(self) -> dict[str, Entry]:
        found, problems = inventory.read(self.out)
        assert problems == []
        return {entry.path: entry for entry in found.entries}

    def list(self, *entries: Entry) -> None:
        """Put entries into the inventory, in place of those of the same paths."""
        known = self.entries() | {entry.path: entry for entry in entries}
        list_files(self.out, known.values())

    def forge(self, path: str, body: Json, like: str = SYNC, **fields: object) -> None:
        """Write an object as a file of the run that `like` belongs to, with its entry; `fields` are of the entry."""
        header = (self.out / like).read_text().split("apiVersion")[0]
        content = (header + emit(body)).encode()
        (self.out / path).parent.mkdir(parents=True, exist_ok=True)
        (self.out / path).write_bytes(content)
        meta, group = body["metadata"], body["apiVersion"].rpartition("/")[0]
        own = ObjectId(group, body["kind"], meta.get("namespace", ""), meta["name"])
        known = self.entries()[like]._replace(path=path, id=own, size=len(content), sha256=sha256(content).hexdigest())
        self.list(known._replace(**{"compiled": "", **fields}))  # type: ignore[arg-type]

    def body(self, path: str = SYNC) -> Json:
        found: Json = yaml.safe_load((self.out / path).read_text())
        return found

    def change(self, path: str, edit: Callable[[Json], object], **fields: object) -> None:
        """`forge` for a file that is there."""
        body = self.body(path)
        edit(body)
        self.forge(path, body, path, **fields)


def container(body: Json) -> Json:
    found: Json = body["spec"]["template"]["spec"]["containers"][0]
    return found


def older(repo: Repository) -> None:
    """Make the committed run of `imagenet` one that another version of Stowplan compiled."""
    repo.change(SYNC, lambda body: container(body).update(image="registry.example.com/ml/stowplan-transfer:0"))
