"""A repository of version 0.1.0 is upgraded and put under environments, all three synced by one real Argo CD.

`of_0_1_0` is a repository as version 0.1.0 compiled it. Its place becomes `prod`, which adopts the output; `dev` and
`stage` come to namespaces of their own in the same cluster. Each test continues where the one before it ended.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.client import Manifest, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.git_server import serving
from tests.cluster.shared import load_one
from tests.nightly.argocd import argocd
from tests.nightly.argocd.argocd import SECONDS, ArgoCD, Programs
from tests.nightly.argocd.test_argocd import KINDS, Identity, identity
from tests.nightly.argocd.user_repository import UserRepository

BEFORE = Path(__file__).with_name("of_0_1_0")
URL = "https://git.example.com/user.git"
ARGOCD = "adopting"
"""The namespace of Argo CD."""
PLACES = ("dev", "stage", "prod")
JOBS = [*KINDS, ("batch.paddlepaddle.org/v1", "PaddleJob")]
ENVIRONMENTS = """\
environments:
- {{name: dev, runs: manual, start: [{dev}], set: {{defaultNamespace: adopt-dev}}}}
- {{name: stage, runs: manual, start: [{stage}], set: {{defaultNamespace: adopt-stage}}}}
- {{name: prod, runs: manual, start: [{prod}]}}
"""


@dataclass(frozen=True)
class User:
    """A user whose repository Argo CD syncs. `platform` is the platform file without environments."""

    repository: UserRepository
    argocd: ArgoCD
    platform: str

    def live(self, place: str) -> dict[Identity, str]:
        """The uid of every object that Argo CD has applied in the namespace of an environment."""
        return {
            identity(item): item["metadata"]["uid"]
            for api_version, kind in JOBS
            for item in self.argocd.client.list(api_version, kind, f"adopt-{place}")
            if "argocd.argoproj.io/tracking-id" in item["metadata"].get("annotations", {})
        }

    def trainings(self, place: str) -> set[str]:
        """The names of the Jobs of trainings in an environment."""
        return {name for _, kind, _, name in self.live(place) if kind == "Job" and name.startswith("recognise-")}

    def start(self, **runs: str) -> None:
        """Name the run that may start, or go on, in each environment."""
        entries = {place: f"{{kind: PaddleJob, name: recognise, run: {run}}}" for place, run in runs.items()}
        text = ENVIRONMENTS.format(**{place: entries.get(place, "") for place in PLACES})
        self.repository.write("stowplan.yaml", self.platform + text)

    def deliver(self, *folders: str) -> None:
        """Compile, push, and wait until Argo CD has synced what lies in these folders of the output, and no more."""
        done = self.repository.synth()
        assert done.returncode == 0, done.stdout + done.stderr
        self.await_sync(self.repository.commit(), *folders)

    def await_sync(self, revision: str, *folders: str) -> None:
        found = [each for folder in folders for each in self.repository.manifests(f"{folder}/argocd", "Application")]
        names = {each["metadata"]["name"] for each in found}
        assert len(names) == len(found)
        self.argocd.await_sync(revision, names)

    def apply_root(self, folder: str) -> None:
        """What an administrator applies once."""
        for name in ("root-project.yaml", "root.yaml"):
            path = self.repository.out / folder / "argocd" / name
            if path.exists():
                self.argocd.client.apply(load_one(path), manager="admin")


@pytest.fixture(scope="module")
def user(
    argocd_programs: Programs,
    cluster: Cluster,
    served: dict[str, Manifest],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[User]:
    """A user of version 0.1.0, after the first sync."""
    assert served
    folder = tmp_path_factory.mktemp("adopting")
    repository = UserRepository.create(folder, folder / "user.git")
    with serving(folder) as base, argocd.running(cluster, ARGOCD, argocd_programs, folder) as running:
        shutil.copytree(BEFORE, repository.folder, dirs_exist_ok=True)
        for path in (repository.folder / "stowplan.yaml", *(repository.out / "argocd").iterdir()):
            path.write_text(path.read_text(encoding="utf-8").replace(URL, f"{base}/user.git"), encoding="utf-8")
        platform = (repository.folder / "stowplan.yaml").read_text(encoding="utf-8")
        user = User(repository, running, platform)
        settings = repository.out / "argocd-cm.patch.txt"
        cluster.admin.apply(load_one(settings), manager="admin")
        revision = repository.commit()
        user.apply_root(".")
        user.await_sync(revision, ".")
        yield user


def waiting_in(user: User, place: str) -> str:
    """The hash of the run that `synth` says is waiting in an environment."""
    done = user.repository.synth()
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    (run,) = {line.partition("The run ")[2].split()[0] for line in lines if f"In {place}: The run " in line}
    return run


def run_of(names: set[str]) -> str:
    """The hash of the one run whose Jobs have these names."""
    (run,) = {name.rpartition("-")[2] for name in names}
    return run


def test_upgrade_deletes_nothing_and_runs_nothing_again(user: User) -> None:
    before = user.live("prod")
    assert user.trainings("prod")
    user.deliver(".")
    assert user.live("prod") == before
    assert user.argocd.application("adopt-root")["spec"]["project"] == "adopt-root"


def test_environments_delete_nothing_and_start_no_training(user: User) -> None:
    before, running = user.live("prod"), user.trainings("prod")
    user.start(prod=run_of(running))
    for command in (("adopt", "prod", "--repo", str(user.repository.folder)), ("synth", str(user.repository.folder))):
        done = user.repository.stowplan(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    revision = user.repository.commit()
    wait_for(lambda: "does not exist" in user.argocd.complaints("adopt-root"), SECONDS, what="the missing folder")
    wait_for(
        lambda: "does not exist" in user.argocd.complaints("adopt-ns-adopt-prod"), SECONDS, what="the missing folder"
    )
    assert user.live("prod") == before
    for place in PLACES:
        user.apply_root(place)
    user.await_sync(revision, *PLACES)
    assert user.live("prod") == before
    assert user.argocd.application("adopt-root")["spec"]["source"]["path"] == "out/prod/argocd"
    for place in ("dev", "stage"):
        assert {kind for _, kind, _, name in user.live(place)} >= {"PersistentVolumeClaim", "Job", "SampleSet"}
        assert user.trainings(place) == set()


def test_three_roots_share_no_object(user: User) -> None:
    found = user.argocd.applications()
    assert {name for name in found if name.endswith("-root")} == {"adopt-dev-root", "adopt-stage-root", "adopt-root"}
    owned = [
        (each.get("group", ""), each["kind"], each.get("namespace", ""), each["name"])
        for item in found.values()
        for each in item["status"]["resources"]
    ]
    assert len(owned) == len(set(owned))


def test_an_edit_starts_nothing_and_a_named_run_starts_in_one_environment(user: User) -> None:
    before = {place: user.live(place) for place in PLACES}
    going = run_of(user.trainings("prod"))
    spec = (user.repository.folder / "specs/recognise.yaml").read_text(encoding="utf-8")
    user.repository.write("specs/recognise.yaml", spec.replace("birds:1", "birds:2"))
    user.deliver(*PLACES)
    assert {place: user.live(place) for place in PLACES} == before
    run = waiting_in(user, "dev")
    user.start(prod=going, dev=run)
    user.deliver(*PLACES)
    assert run_of(user.trainings("dev")) == run
    assert before["dev"].items() <= user.live("dev").items()
    assert [user.live(place) for place in ("stage", "prod")] == [before["stage"], before["prod"]]


def test_the_run_is_promoted_to_another_environment(user: User) -> None:
    before = {place: user.live(place) for place in PLACES}
    run, going = run_of(user.trainings("dev")), run_of(user.trainings("prod"))
    waiting = waiting_in(user, "stage")
    user.start(prod=going, dev=run, stage=waiting)
    user.deliver(*PLACES)
    assert run_of(user.trainings("stage")) == waiting
    assert before["stage"].items() <= user.live("stage").items()
    assert [user.live(place) for place in ("dev", "prod")] == [before["dev"], before["prod"]]
