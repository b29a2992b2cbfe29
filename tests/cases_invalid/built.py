"""Repositories that Git cannot hold, or that would be too large for it: each function makes one in an empty folder.

The folder has the tests' `stowplan.yaml` already. A case may need something to last while the command runs, such as a
lock; so each is a context.
"""

import fcntl
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from runpy import run_path

from typer.testing import CliRunner

from stowplan.compiler.cli import app
from tests.hostile.forged_runs import FILES, Repository


@dataclass(frozen=True)
class Case:
    """How a repository is made, and the command that is run in it."""

    made: Callable[[Path], AbstractContextManager[None]]
    command: str


BUILT: dict[str, Case] = {}
"""The cases by name."""

SPEC = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata:
  name: imagenet
spec:
  partitions: 2
  noSync: true
  secretRef:
    name: imagenet
  cache:
    levels:
      - path: /data/imagenet
        cacheSize: 1024
"""

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
data:
  text: {text}
"""

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: buckets.example.com
  annotations:
    argocd.argoproj.io/sync-options: Prune=false,Delete=false
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: Bucket, plural: buckets}}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          description: {description}
"""


def case(name: str, command: str = "validate .") -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Register a function that only makes files."""

    def register(make: Callable[[Path], None]) -> Callable[[Path], None]:
        @contextmanager
        def made(repo: Path) -> Iterator[None]:
            (repo / "specs").mkdir()
            make(repo)
            yield

        BUILT[name] = Case(made, command)
        return make

    return register


def allow(repo: Path, *kinds: str) -> None:
    with (repo / "stowplan.yaml").open("a") as file:
        file.write(f"passThrough: [{', '.join(kinds)}]\n")


@case("SP104-latin-1")
def _latin_1(repo: Path) -> None:
    (repo / "specs/latin.yaml").write_bytes(f"# Größe\n{SPEC}".encode("latin-1"))


@case("SP104-utf-16")
def _utf_16(repo: Path) -> None:
    (repo / "specs/wide.yaml").write_bytes(SPEC.encode("utf-16"))


@case("SP104-control-character")
def _control_character(repo: Path) -> None:
    (repo / "specs/bell.yaml").write_text(SPEC.replace("/data/imagenet", "/data/\aimagenet"))


@case("SP105-large-file")
def _large_file(repo: Path) -> None:
    (repo / "specs/large.yaml").write_text(SPEC + "# filling\n" * 120_000)


@case("SP108-many-documents")
def _many_documents(repo: Path) -> None:
    (repo / "specs/many.yaml").write_text("---\n# nothing\n" * 1_001)


@case("SP109-link-out")
def _link_out(repo: Path) -> None:
    (repo / "specs/passwords.yaml").symlink_to("/etc/passwd")


@case("SP109-platform-link")
def _platform_link(repo: Path) -> None:
    (repo / "stowplan.yaml").unlink()
    (repo / "stowplan.yaml").symlink_to("/etc/hostname")


@case("SP112-pipe")
def _pipe(repo: Path) -> None:
    os.mkfifo(repo / "specs/pipe.yaml")


@case("SP112-link-to-nothing")
def _link_to_nothing(repo: Path) -> None:
    (repo / "specs/gone.yaml").symlink_to("moved.yaml")


@case("SP112-links-in-a-circle")
def _links_in_a_circle(repo: Path) -> None:
    (repo / "specs/again").symlink_to(".")


@case("SP112-folder")
def _folder(repo: Path) -> None:
    (repo / "stowplan.yaml").unlink()
    (repo / "stowplan.yaml").mkdir()


@case("SP113-no-platform-file")
def _no_platform_file(repo: Path) -> None:
    (repo / "stowplan.yaml").unlink()


@case("SP510-file-for-folder", "synth .")
def _file_for_folder(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    (repo / "out").write_text("Not a folder.\n")


@case("SP508-link-for-manifest", "synth .")
def _link_for_manifest(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    folder = repo / "out/default"
    folder.mkdir(parents=True)
    (folder / "sampleset-imagenet").symlink_to("/etc")


@case("SP532-much-for-one-application")
def _much_for_one_application(repo: Path) -> None:
    allow(repo, "{kind: ConfigMap}")
    for number in range(9):
        text = CONFIG_MAP.format(name=f"large-{number}", text="x" * 920_000)
        (repo / f"specs/large-{number}.yaml").write_text(text)


@case("SP551-large-crd")
def _large_crd(repo: Path) -> None:
    allow(repo, "{group: apiextensions.k8s.io, kind: CustomResourceDefinition}")
    (repo / "specs/bucket.yaml").write_text(CRD.format(description="x" * 600_000))


@contextmanager
def _another_run(repo: Path) -> Iterator[None]:
    (repo / "specs").mkdir()
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    (repo / "out").mkdir()
    with (repo / "out/.stowplan.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


BUILT["SP509-another-run"] = Case(_another_run, "synth .")


@case("SP516-of-one-spec", "synth .")
def _lost_inventory_of_one_spec(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    assert CliRunner().invoke(app, ["synth", str(repo)]).exit_code == 0
    (repo / "out/_inventory/default/sampleset-imagenet.jsonl").unlink()


@case("SP562-of-a-program", "synth .")
def _output_of_a_program(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    (repo / "main.py").write_text(
        "from cdk8s import Chart\n"
        "from stowplan.compiler.app import App\n"
        "from stowplan.library.constructs import Dataset\n"
        "app = App()\n"
        "Dataset(Chart(app, 'ml', namespace='ml'), 'c4', volume={'claim': {'name': 'held'}})\n"
        "app.synth()\n"
    )
    run_path("main.py")


@case("SP519-forged-config-map", "synth .")
def _forged_config_map(repo: Path) -> None:
    """The inventory lists a file of a run that no spec compiles to."""
    forged = Repository(repo)
    (repo / "specs/imagenet.yaml").write_text(FILES["specs/imagenet.yaml"])
    assert forged.run("synth").exit_code == 0
    labels = {"stowplan.dev/kind": "SampleSet", "stowplan.dev/name": "imagenet"}
    meta = {"name": "imagenet-more-aaaaaaaa", "namespace": "ml", "labels": labels}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "b"}}
    forged.forge("ml/sampleset-imagenet/configmap-imagenet-more.yaml", body)


TRAINING = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: mnist, namespace: ml}
spec: {framework: torch, image: "registry.example.com/ml/mnist:1", command: [python, train.py]}
"""


@case("SP816-eight-characters", "synth .")
def _without_digest(repo: Path) -> None:
    """The run is named as versions before digests said it."""
    (repo / "specs/mnist.yaml").write_text(TRAINING)
    platform = f"{(repo / 'stowplan.yaml').read_text()}environments:\n- name: prod\n  runs: manual\n"
    (repo / "stowplan.yaml").write_text(platform)
    said = CliRunner().invoke(app, ["synth", str(repo)]).output
    (run,) = re.findall(r"run: ([a-z2-7]{8})}", said)
    entry = f"{{kind: Training, namespace: ml, name: mnist, run: {run}}}"
    (repo / "stowplan.yaml").write_text(f"{platform}  start:\n  - {entry}\n")


@case("SP543-local-images", "synth .")
def _local_images(repo: Path) -> None:
    """The registry is named after the first synth."""
    (repo / "specs/imagenet.yaml").write_text(
        SPEC.replace("noSync: true", "source: {uri: 's3://imagenet.example.com/'}")
    )
    platform = repo / "stowplan.yaml"
    later = platform.read_text()
    platform.write_text("")
    assert CliRunner().invoke(app, ["synth", str(repo)]).exit_code == 0
    platform.write_text(later)


@case("SP812-another-name", "synth .")
def _another_name(repo: Path) -> None:
    """The Argo CD objects get a name of their own after the first synth."""
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    assert CliRunner().invoke(app, ["synth", str(repo)]).exit_code == 0
    platform = repo / "stowplan.yaml"
    platform.write_text(platform.read_text().replace("argocd: {", "argocd: {name: data, "))


@case("SP813-default-name", "synth .")
def _default_name(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    (repo / "models").mkdir()
    (repo / "models/stowplan.yaml").write_text("")
    for arguments in (["init", "--quiet"], ["add", "models"]):
        subprocess.run(["git", "-C", str(repo), *arguments], check=True)


@case("SP814-elsewhere", "synth .")
def _elsewhere(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    platform = repo / "stowplan.yaml"
    platform.write_text(platform.read_text().replace("argocd: {", "argocd: {path: data/out, "))
    subprocess.run(["git", "-C", str(repo), "init", "--quiet"], check=True)


@contextmanager
def _in_ci(repo: Path) -> Iterator[None]:
    (repo / "specs").mkdir()
    os.environ["CI"] = "true"
    try:
        yield
    finally:
        del os.environ["CI"]


BUILT["SP526-no-base"] = Case(_in_ci, "synth . --check")


def _committed(repo: Path) -> Repository:
    """Compile a spec, and commit the output."""
    (repo / "specs/imagenet.yaml").write_text(SPEC)
    made = Repository(repo)
    assert made.run("synth").exit_code == 0
    made.git("init", "--quiet")
    made.commit()
    return made


@case("SP538-submodule", "synth . --check")
def _submodule(repo: Path) -> None:
    """Git's folder for it is removed."""
    made = _committed(repo)
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},out/argocd/more")


@contextmanager
def _written_in_ci(repo: Path) -> Iterator[None]:
    (repo / "specs").mkdir()
    made = _committed(repo)
    made.edit("specs/imagenet.yaml", "partitions: 2", "partitions: 3")
    assert made.run("synth").exit_code == 0
    os.environ["CI"] = "true"
    try:
        yield
    finally:
        del os.environ["CI"]


BUILT["SP539-written-in-ci"] = Case(_written_in_ci, "synth . --check --base HEAD")
