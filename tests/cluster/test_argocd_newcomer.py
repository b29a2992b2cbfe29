"""A newcomer's first use: from `stowplan init` to a ready dataset, a trained job, and the first edit.

The commands, git, the API server and its controllers, Argo CD, the object store, the volume and all agents are real.
The nodes, the CSI driver and the training are played: nodes find every container ready, and the driver is one mount of
the volume.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.agents.cache import redis_server
from tests.agents.cache.volume import Mount, Store, Volume, why_not
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage, new_bucket
from tests.agents.transfer.server import serving as serving_objects
from tests.cluster import argocd
from tests.cluster.argocd import ArgoCD, Programs
from tests.cluster.binaries import Missing, obtain
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.git_server import serving
from tests.cluster.markdown import Markdown
from tests.cluster.pod_processes import PodProcesses, attended
from tests.cluster.tools import JUICEFS, NEWEST, VERSITYGW
from tests.cluster.transcript import Transcript

NAMESPACE, ARGO_CD = "newcomer", "newcomer-argocd"
APPLICATIONS = ("data-cluster", "data-crds", f"data-ns-{NAMESPACE}", "data-root")
"""Begin with the name of the folder that `stowplan init` starts, which has no remote by then."""
MIB = 1 << 20
DATASET = ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "mnist", NAMESPACE)
TRAINING = ref("batch.paddlepaddle.org/v1", "PaddleJob", "mnist-train", NAMESPACE)


@dataclass(frozen=True)
class Newcomer:
    """Someone with a bucket of samples, a volume, a cluster with Argo CD, and an empty repository on a git server."""

    cluster: Cluster
    argocd: ArgoCD
    pods: PodProcesses
    transcript: Transcript
    samples: Storage
    volume: Volume
    url: str
    """Of the repository."""

    @property
    def repository(self) -> Path:
        return self.transcript.folder

    def edit(self, path: str, *changes: tuple[str, str]) -> None:
        """Replace texts of a file, each of which is there once."""
        file = self.repository / path
        text = file.read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")

    def await_sync(self) -> None:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=self.repository, capture_output=True, text=True, check=True
        )
        self.argocd.await_sync(head.stdout.strip(), set(APPLICATIONS))

    def await_status(self, resource: Manifest, **fields: Any) -> Manifest:
        """Wait until the status has these fields; gives all of it."""

        def asked() -> Manifest | None:
            status: Manifest = self.cluster.admin.get(resource).get("status") or {}
            return status if fields.items() <= status.items() else None

        try:
            return wait_for(asked, 300, what=str(fields))
        except TimeoutError as error:
            live = self.cluster.admin.get(resource).get("status")
            raise AssertionError(f"{error}, but {live}\n{self.pods.faults}\n{self.pods.said()}") from None

    def await_health(self) -> None:
        for name in APPLICATIONS:
            self.argocd.await_health(name, "Healthy")

    def jobs(self) -> dict[str, str]:
        """The uid of each Job by name."""
        found = self.cluster.admin.list("batch/v1", "Job", NAMESPACE)
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}


@pytest.fixture
def newcomer(argocd_programs: Programs, cluster: Cluster, minor: str, tmp_path: Path) -> Iterator[Newcomer]:
    juicefs, versitygw, redis = obtain(JUICEFS), obtain(VERSITYGW), redis_server.program()
    for reason in (
        "pods are held by a MutatingAdmissionPolicy, which older servers do not have" if minor != NEWEST else "",
        "no kubectl on this machine" if shutil.which("kubectl") is None else "",
        *(str(each) for each in (juicefs, versitygw) if isinstance(each, Missing)),
        why_not(),
    ):
        if reason:
            pytest.skip(reason)
    assert not isinstance(juicefs, Missing)
    assert not isinstance(versitygw, Missing)
    assert redis is not None, "the fixture of Argo CD has looked for it"
    for name in ("argocd", "git", "home", "newcomer", "objects", "pods"):
        (tmp_path / name).mkdir()
    with ExitStack() as stack:
        database = stack.enter_context(redis_server.running(tmp_path / "redis", redis))
        objects = stack.enter_context(serving_objects(versitygw.paths["versitygw"], tmp_path / "objects"))
        samples, blocks = new_bucket(objects), new_bucket(objects)
        samples.put({"train/0": b"0" * MIB, "train/1": b"1" * MIB, "labels": b"0 1"})
        store = Store("s3", f"{objects}/{blocks.bucket}", ACCESS_KEY, SECRET_KEY)
        volume = Volume(juicefs.paths["juicefs"], tmp_path / "volume", database.url(1), store)
        volume.format()
        mount = Mount(volume, tmp_path / "node")
        stack.callback(mount.stop)
        mount.start()
        url = f"{stack.enter_context(serving(tmp_path / 'git'))}/data.git"
        _make_remote(tmp_path / "git" / "data.git")
        running = stack.enter_context(argocd.running(cluster, ARGO_CD, argocd_programs, tmp_path / "argocd"))
        pods = stack.enter_context(
            attended(cluster, NAMESPACE, tmp_path / "pods", {"mnist": mount.path}, juicefs.paths["juicefs"].parent)
        )
        names = {url: "https://git.example.com/ml/data.git", _source(samples): "minio://samples.example.com/mnist/"}
        transcript = Transcript(tmp_path / "newcomer", _environment(cluster, tmp_path / "home"), names)
        yield Newcomer(cluster, running, pods, transcript, samples, volume, url)
    cluster.admin.delete(ref("v1", "Namespace", NAMESPACE))


def _make_remote(folder: Path) -> None:
    """An empty repository that may be pushed to."""
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", folder], check=True)
    subprocess.run(["git", "config", "http.receivepack", "true"], cwd=folder, check=True)


def _environment(cluster: Cluster, home: Path) -> dict[str, str]:
    who = {"NAME": "newcomer", "EMAIL": "newcomer@example.com"}
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "KUBECONFIG": str(cluster.kubeconfig),
        "COLUMNS": "160",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()},
    }


def test_whole_way(newcomer: Newcomer, snapshot: SnapshotAssertion) -> None:
    _begin(newcomer)
    _install(newcomer)
    newcomer.await_sync()
    newcomer.await_status(TRAINING, phase="Completed")
    newcomer.await_status(DATASET, phase="Ready")
    wait_for(lambda: _is_measured(newcomer.cluster.admin.get(DATASET)["status"]), 120, what="sizes of the dataset")
    newcomer.await_health()
    _look(newcomer)
    before = newcomer.jobs()
    _edit(newcomer)
    newcomer.await_sync()
    after = newcomer.jobs()
    assert _stems(before.items() ^ after.items()) == {"mnist-train-paddlejob-gate", "mnist-train-paddlejob-worker"}
    assert _stems(before.items()) == _stems(after.items())
    newcomer.await_status(TRAINING, phase="Completed")
    newcomer.await_health()
    _look(newcomer)
    assert newcomer.transcript.text == snapshot(extension_class=Markdown)


def _is_measured(status: Manifest) -> bool:
    """The cache pod looks every half minute."""
    sizes = status.get("cacheStatus", {})
    return bool(sizes.get("totalSize") == sizes.get("cachedSize") == "2.0 MiB")


def _stems(jobs: Iterable[tuple[str, str]]) -> set[str]:
    """The names of Jobs without the hashes of their runs."""
    return {name.rpartition("-")[0] for name, _ in jobs}


def _begin(newcomer: Newcomer) -> None:
    transcript = newcomer.transcript
    transcript.run("stowplan init --legacy data")
    transcript.folder /= "data"
    transcript.say("In the new folder, put under Git as it is:")
    transcript.run("git init --quiet --initial-branch main && git add . && git commit --quiet --message 'Begin'")
    newcomer.edit(
        "stowplan.yaml",
        ("defaultNamespace: ml", f"defaultNamespace: {NAMESPACE}"),
        ("# images:\n#   registry: ", "images:\n  registry: "),
        ("  # repoURL: https://git.example.com/ml/data.git", f"  namespace: {ARGO_CD}\n  repoURL: {newcomer.url}"),
        ("    namespaces: [ml]", f"    namespaces: [{NAMESPACE}]"),
    )
    newcomer.edit("specs/mnist.yaml", ("s3://samples.s3.example.com/mnist/", _source(newcomer.samples)))
    transcript.say("The places that the comments name, filled in:")
    transcript.run("git diff --unified=0")
    transcript.run("stowplan validate")
    transcript.run("stowplan synth")
    transcript.run("git add . && git commit --quiet --message 'The first dataset'")
    transcript.run(f"git remote add origin {newcomer.url} && git push --quiet origin main")


def _source(samples: Storage) -> str:
    return f"minio://{samples.endpoint.removeprefix('http://')}/{samples.bucket}/"


def _install(newcomer: Newcomer) -> None:
    transcript = newcomer.transcript
    secret = {**ref("v1", "Secret", "mnist-volume", NAMESPACE), "stringData": newcomer.volume.secret}
    (newcomer.repository.parent / "mnist-volume.yaml").write_text(yaml.safe_dump(secret), encoding="utf-8")
    transcript.say("The administrator's part:")
    transcript.run(f"kubectl create namespace {NAMESPACE}")
    transcript.run("kubectl apply -f ../mnist-volume.yaml")
    transcript.run(f"kubectl patch configmap argocd-cm -n {ARGO_CD} --patch-file out/argocd-cm.patch.txt")
    transcript.run("kubectl apply -f out/argocd/root-project.yaml -f out/argocd/root.yaml")


def _look(newcomer: Newcomer) -> None:
    transcript = newcomer.transcript
    transcript.say("Some minutes later:")
    transcript.run(f"kubectl get applications -n {ARGO_CD}")
    transcript.run(f"kubectl get samplesets,paddlejobs,jobs,pods -n {NAMESPACE}")
    transcript.run("stowplan status")


def _edit(newcomer: Newcomer) -> None:
    transcript = newcomer.transcript
    transcript.say("A branch for a pull request, with an edit that is not compiled yet:")
    transcript.run("git switch --quiet --create longer")
    newcomer.edit("specs/mnist-train.yaml", ('"--data", "/data"]', '"--data", "/data", "--epochs", "2"]'))
    transcript.run("git diff --unified=0")
    transcript.run("stowplan synth --check", code=1)
    transcript.run("stowplan diff")
    transcript.run("stowplan synth")
    transcript.run("stowplan synth --check")
    transcript.run("git add . && git commit --quiet --message 'Train longer'")
    transcript.say("Reviewed and merged:")
    transcript.run("git switch --quiet main && git merge --quiet longer && git push --quiet origin main")
