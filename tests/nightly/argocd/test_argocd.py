"""A real Argo CD syncs users' commits: the created, pruned and retained objects, and no unfinished operation.

One repository serves all tests. Each edits the specs of one namespace, so their order does not matter.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import yaml

from tests.cluster.client import Client, Manifest, ref, true_conditions, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.git_server import serving
from tests.cluster.shared import load_one
from tests.nightly.argocd import argocd
from tests.nightly.argocd.argocd import SECONDS, ArgoCD, Programs
from tests.nightly.argocd.user_repository import UserRepository

NAMESPACE = "gitops"
"""Of Argo CD."""
NAMESPACES = [
    "gitops-broken",
    "gitops-edited",
    "gitops-forced",
    "gitops-full",
    "gitops-held",
    "gitops-last",
    "gitops-removed",
    "gitops-two",
]

Identity = tuple[str, str, str, str]
"""apiVersion, kind, namespace and name."""


def platform(url: str, tag: str) -> str:
    return f"""\
apiVersion: stowplan.dev/v1alpha1
kind: Platform
images: {{registry: registry.example.com/ml, tag: "{tag}"}}
argocd:
  name: user
  namespace: {NAMESPACE}
  repoURL: {url}
  targetRevision: main
  destination: {{namespaces: [default, {", ".join(NAMESPACES)}]}}
namespaces: {{emit: true}}
"""


def sample_set(namespace: str, name: str, *, prefix: str = "one", volume: str = "volume") -> str:
    return f"""\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  partitions: 1
  source: {{uri: "s3://{name}.s3.eu-central-1.amazonaws.com/{prefix}/"}}
  secretRef: {{name: {volume}}}
"""


def sample_jobs(namespace: str, dataset: str) -> str:
    """One that runs once, and one that runs by the clock, yet not during a test."""
    return f"""\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: {dataset}-more, namespace: {namespace}}}
spec:
  type: sync
  sampleSetRef: {{name: {dataset}}}
  secretRef: {{name: volume}}
  syncOptions: {{source: "s3://{dataset}.s3.eu-central-1.amazonaws.com/more/"}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: {dataset}-warmup, namespace: {namespace}}}
spec:
  type: warmup
  schedule: "0 0 1 1 *"
  sampleSetRef: {{name: {dataset}}}
"""


SPECS = {
    "broken": sample_set("gitops-broken", "fish"),
    "edited": sample_set("gitops-edited", "birds"),
    "forced": sample_set("gitops-forced", "trees"),
    "full": sample_set("gitops-full", "plants"),
    "held": sample_set("gitops-held", "rocks"),
    "last": sample_set("gitops-last", "cats"),
    "last-jobs": sample_jobs("gitops-last", "cats"),
    "removed": sample_set("gitops-removed", "dogs"),
    "two-kept": sample_set("gitops-two", "cars"),
    "two-removed": sample_set("gitops-two", "ships", volume="other"),
}


@dataclass(frozen=True)
class User:
    """A user whose repository Argo CD syncs."""

    repository: UserRepository
    argocd: ArgoCD
    url: str

    def write(self, spec: str, text: str) -> None:
        self.repository.write(f"specs/{spec}.yaml", text)

    def remove(self, spec: str) -> None:
        (self.repository.folder / "specs" / f"{spec}.yaml").unlink()

    @contextmanager
    def edited(self, spec: str, text: str) -> Iterator[None]:
        """The spec with another text, until the block ends."""
        self.write(spec, text)
        try:
            yield
        finally:
            self.write(spec, SPECS[spec])

    def deliver(self) -> None:
        """Compile, push, and wait until Argo CD has synced everything."""
        done = self.repository.synth()
        assert done.returncode == 0, done.stdout + done.stderr
        self.await_sync(self.repository.commit())

    def await_sync(self, revision: str) -> None:
        applications = self.repository.manifests("argocd", "Application")
        self.argocd.await_sync(revision, {item["metadata"]["name"] for item in applications})

    def compiled(self, namespace: str) -> set[Identity]:
        """What the output holds for a namespace."""
        return {identity(item) for item in self.repository.manifests(namespace)}

    def live(self, namespace: str) -> dict[Identity, str]:
        """The uid of every object of the namespace that Argo CD has applied."""
        return {
            identity(item): item["metadata"]["uid"]
            for api_version, kind in KINDS
            for item in self.argocd.client.list(api_version, kind, namespace)
            if "argocd.argoproj.io/tracking-id" in item["metadata"].get("annotations", {})
        }


KINDS = [
    ("v1", "ConfigMap"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "CronJob"),
    ("batch/v1", "Job"),
    ("batch.paddlepaddle.org/v1alpha1", "SampleJob"),
    ("batch.paddlepaddle.org/v1alpha1", "SampleSet"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
]


def identity(manifest: Manifest) -> Identity:
    metadata = manifest["metadata"]
    return manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def kinds(identities: set[Identity]) -> set[str]:
    return {kind for _, kind, _, _ in identities}


@pytest.fixture(scope="module")
def user(argocd_programs: Programs, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user after the first sync. The admin applied Argo CD's settings, the root Application and its project."""
    folder = tmp_path_factory.mktemp("argocd")
    repository = UserRepository.create(folder, folder / "user.git")
    with (
        serving(folder) as base,
        argocd.running(cluster, NAMESPACE, argocd_programs, folder) as running,
    ):
        user = User(repository, running, f"{base}/user.git")
        repository.write("stowplan.yaml", platform(user.url, "1"))
        for name, text in SPECS.items():
            user.write(name, text)
        done = repository.synth()
        assert done.returncode == 0, done.stdout + done.stderr
        revision = repository.commit()
        settings = yaml.safe_load((repository.out / "argocd-cm.patch.txt").read_text(encoding="utf-8"))
        project, root = (load_one(repository.out / "argocd" / name) for name in ("root-project.yaml", "root.yaml"))
        for manifest in (settings, project, root):
            cluster.admin.apply(manifest, manager="admin")
        user.await_sync(revision)
        yield user


def test_first_sync_brings_everything(user: User) -> None:
    manifests = [item for folder in ("_cluster", "crds", *NAMESPACES) for item in user.repository.manifests(folder)]
    for manifest in manifests:
        assert user.argocd.client.find(manifest) is not None, identity(manifest)


def test_nothing_is_read_but_yaml_files_that_are_not_hidden(user: User) -> None:
    namespace = "gitops-broken"
    names = {"hidden-file": ".x.yaml", "hidden-folder": ".h/x.yaml", "json": "x.json", "other-yaml": "x.yml"}
    for name, path in names.items():
        # JSON is YAML too.
        manifest = json.dumps({**ref("v1", "ConfigMap", name, namespace), "data": {}})
        user.repository.write(f"out/{namespace}/{path}", manifest)
    user.await_sync(user.repository.commit())
    for name, path in names.items():
        assert user.argocd.client.find(ref("v1", "ConfigMap", name, namespace)) is None, path
        (user.repository.out / namespace / path).unlink()
    user.await_sync(user.repository.commit())


def test_root_application_moves_from_the_default_project_to_its_own(user: User) -> None:
    """As when Stowplan is upgraded from 0.1.0, whose root Application was in the project `default`."""
    project = user.repository.out / "argocd" / "root-project.yaml"
    root = user.repository.out / "argocd" / "root.yaml"
    now = {path: path.read_text(encoding="utf-8") for path in (project, root)}
    project.unlink()
    root.write_text(now[root].replace("project: user-root", "project: default"), encoding="utf-8")
    user.await_sync(user.repository.commit())
    assert user.argocd.application("user-root")["spec"]["project"] == "default"
    user.argocd.client.delete(ref(argocd.API_VERSION, "AppProject", "user-root", NAMESPACE))
    for path, text in now.items():
        path.write_text(text, encoding="utf-8")
    user.await_sync(user.repository.commit())
    assert user.argocd.application("user-root")["spec"]["project"] == "user-root"


def test_application_is_healthy_once_agents_have_reported(user: User) -> None:
    application = "user-ns-gitops-broken"
    waiting = ["SampleSet fish: Waiting for the agents to report"]
    wait_for(lambda: user.argocd.unhealthy(application) == waiting, SECONDS, what="only agents to wait for")
    assert user.argocd.application(application)["status"]["health"]["status"] == "Progressing"
    resource = ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "fish", "gitops-broken")
    _report(user.argocd.client, resource, "Ready")
    for name in (application, "user-root", "user-crds", "user-cluster"):
        user.argocd.await_health(name, "Healthy")


def _report(client: Client, resource: Manifest, phase: str) -> None:
    """What the agent does once it is done."""
    client.apply({**resource, "status": {"phase": phase}}, manager="stowplan-reporter", subresource="status")


def test_hand_edit_of_an_application_is_undone_and_its_status_left_alone(user: User) -> None:
    """The status holds the operation. Applied from Git's side, a stale copy would leave it open for good."""
    name = "user-ns-gitops-broken"
    edited = ref(argocd.API_VERSION, "Application", name, NAMESPACE)
    label = "app.kubernetes.io/part-of"
    user.argocd.client.patch(edited, {"metadata": {"labels": {label: "hand"}}})
    wait_for(
        lambda: user.argocd.application(name)["metadata"]["labels"][label] == "stowplan", SECONDS, what="the old label"
    )
    live = user.argocd.application(name)
    assert [entry["manager"] for entry in live["metadata"]["managedFields"] if "f:status" in entry["fieldsV1"]] == [
        "argocd-application-controller"
    ]


def test_edited_run_replaces_its_jobs_and_nothing_else(user: User) -> None:
    namespace = "gitops-edited"
    before, compiled_before = user.live(namespace), user.compiled(namespace)
    user.write("edited", sample_set(namespace, "birds", prefix="two"))
    user.deliver()
    after, compiled = user.live(namespace), user.compiled(namespace)
    created, pruned = after.keys() - before.keys(), before.keys() - after.keys()
    assert (created, pruned) == (compiled - compiled_before, compiled_before - compiled)
    assert kinds(created) == kinds(pruned) == {"ConfigMap", "Job"}
    assert all(after[kept] == before[kept] for kept in after.keys() & before.keys())
    for job in user.repository.manifests(namespace, "Job"):
        wait_for(lambda: "Complete" in true_conditions(user.argocd.client.get(job)), SECONDS, what="the new run's end")  # noqa: B023


def test_removed_dataset_leaves_its_volume(user: User) -> None:
    namespace = "gitops-two"
    volume = user.repository.manifest("_cluster", "PersistentVolume", f"{namespace}.ships")
    before = user.live(namespace)
    user.remove("two-removed")
    user.deliver()
    after = user.live(namespace)
    claim = ("v1", "PersistentVolumeClaim", namespace, "ships")
    assert after.keys() == user.compiled(namespace) | {claim}
    assert after[claim] == before[claim]
    assert user.argocd.client.get(volume)["status"]["phase"] == "Bound"


def test_last_spec_of_a_kind_is_pruned(user: User) -> None:
    namespace = "gitops-last"
    user.remove("last-jobs")
    user.deliver()
    after = user.live(namespace)
    assert after.keys() == user.compiled(namespace)
    assert not {"CronJob", "SampleJob"} & kinds(set(after))


def test_last_spec_of_a_namespace_takes_the_application_with_it(user: User) -> None:
    namespace = "gitops-removed"
    user.remove("removed")
    user.deliver()
    assert kinds(set(user.live(namespace))) == {"PersistentVolumeClaim"}
    assert user.argocd.client.find(ref("v1", "Namespace", namespace)) is not None


def test_broken_spec_changes_nothing(user: User) -> None:
    namespace = "gitops-broken"
    before = user.live(namespace)
    with user.edited("broken", SPECS["broken"].replace("partitions: 1", "partitions: one")):
        assert user.repository.synth().returncode == 1
        assert user.repository.changed() == ["specs/broken.yaml"]
        user.await_sync(user.repository.commit())
    assert user.live(namespace) == before


def test_new_agent_images_restart_no_run(user: User) -> None:
    namespace = "gitops-edited"
    before = user.live(namespace)
    user.repository.write("stowplan.yaml", platform(user.url, "2"))
    user.deliver()
    assert user.live(namespace) == before
    (runtime,) = user.repository.manifests(namespace, "StatefulSet")
    wait_for(lambda: _is_rolled(user.argocd.client.get(runtime)), SECONDS, what="new cache pods")
    (pod,) = user.argocd.client.list("v1", "Pod", namespace, "app.kubernetes.io/component=runtime")
    assert pod["spec"]["containers"][0]["image"].endswith(":2")


def _is_rolled(stateful_set: Manifest) -> bool:
    status = stateful_set["status"]
    return bool(
        status["observedGeneration"] == stateful_set["metadata"]["generation"]
        and status.get("updatedReplicas") == status["replicas"] == status.get("readyReplicas")
    )


def test_immutable_edit_is_refused_by_the_compiler(user: User) -> None:
    with user.edited("forced", sample_set("gitops-forced", "trees", volume="other")):
        done = user.repository.synth()
        assert done.returncode == 1
        assert "SP540" in done.stdout + done.stderr
        assert user.repository.changed() == ["specs/forced.yaml"]


def test_forced_immutable_edit_stops_its_application_until_it_is_undone(user: User) -> None:
    """With server-side diff the refusal comes with the comparison, so no operation is ever begun."""
    namespace, name = "gitops-forced", "user-ns-gitops-forced"
    claim = next((user.repository.out / namespace).rglob("persistentvolumeclaim-*.yaml"))
    compiled, before = claim.read_text(encoding="utf-8"), user.live(namespace)
    claim.write_text(compiled.replace("volumeName: ", "volumeName: not-"), encoding="utf-8")
    user.repository.commit()
    wait_for(lambda: "spec is immutable" in user.argocd.complaints(name), SECONDS, what="the refusal")
    stopped = user.argocd.application(name)
    assert stopped["status"]["sync"]["status"] == "Unknown"
    assert "operation" not in stopped
    claim.write_text(compiled, encoding="utf-8")
    user.await_sync(user.repository.commit())
    assert user.live(namespace) == before


@pytest.mark.parametrize("end", ["healthy", "terminated"])
def test_refused_object_holds_back_the_fix_until_its_operation_ends(user: User, end: str) -> None:
    """After the API server has refused one object, Argo CD 3.4 and later wait until the other objects are healthy.

    Only then does the operation fail and run again, with the newest commit. If a user terminates the operation, Argo CD
    syncs the newest commit at once.
    """
    namespace, name = "gitops-full", "user-ns-gitops-full"
    quota = ref("v1", "ResourceQuota", "full", namespace)
    user.argocd.client.apply({**quota, "spec": {"hard": {"count/cronjobs.batch": "0"}}}, manager="admin")
    user.write("full-jobs", sample_jobs(namespace, "plants"))
    assert user.repository.synth().returncode == 0
    refused = user.repository.commit()
    task = ref("batch.paddlepaddle.org/v1alpha1", "SampleJob", "plants-more", namespace)
    waiting = "waiting for healthy state of batch.paddlepaddle.org/SampleJob/plants-more"
    wait_for(lambda: user.argocd.operation(name).get("message") == waiting, SECONDS, what="the wait for the task")
    user.remove("full-jobs")
    assert user.repository.synth().returncode == 0
    fixed = user.repository.commit()
    wait_for(lambda: user.argocd.seen(name) == fixed, SECONDS, what="the fix, seen")
    operation = user.argocd.operation(name)
    assert (operation["phase"], operation["operation"]["sync"]["revision"]) == ("Running", refused)
    assert "retryCount" not in operation
    if end == "healthy":
        _report(user.argocd.client, task, "Succeeded")
        # Looked at before the end: once all is in sync, an operation of its own may already have followed.
        wait_for(lambda: user.argocd.operation(name).get("retryCount") == 1, SECONDS, what="the second attempt")
    else:
        user.argocd.terminate(name)
    user.await_sync(fixed)
    assert end == "healthy" or "retryCount" not in user.argocd.operation(name)
    assert user.live(namespace).keys() == user.compiled(namespace)


def test_pruned_run_that_does_not_end_holds_its_sync(user: User) -> None:
    """As when its pod is on a lost node: Argo CD deletes in the foreground, and waits between waves."""
    namespace, name = "gitops-held", "user-ns-gitops-held"
    client = user.argocd.client
    held = user.repository.manifest(namespace, "Job", "rocks-sync")
    client.patch(held, {"metadata": {"finalizers": ["stowplan.dev/held"]}})
    user.write("held", sample_set(namespace, "rocks", prefix="two"))
    assert user.repository.synth().returncode == 0
    revision = user.repository.commit()
    wait_for(lambda: "waiting for deletion" in user.argocd.operation(name).get("message", ""), SECONDS, what="the wait")
    new = user.repository.manifest(namespace, "Job", "rocks-sync")
    assert client.find(new) is None
    client.patch(held, {"metadata": {"finalizers": None}})
    user.await_sync(revision)
    assert client.find(new) is not None
