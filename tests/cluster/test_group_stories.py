"""The ends of training groups, on real controllers and with their compiled await agents.

What an agent decides is told by `tests/unit/agents/await_group` and `test_await.py`; here is what the controllers make
of it by the compiled Jobs.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stowplan.compiler.model import OutputFile
from stowplan.library.delivery import reporter
from tests.cluster import sync
from tests.cluster.attendants import Attendants, attending, end
from tests.cluster.client import Manifest, ref, true_conditions, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.processes import free_port
from tests.repositories import compiled

NUMBERS = itertools.count()

_SPECS = """\
kind: Platform
defaultNamespace: {home}
images: {{registry: registry.example.com/ml, tag: "1"}}
paddle: {{basePort: {port}}}
engines: {{jobs: {jobs}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: ctr}}
spec:
  ps:
    replicas: 2
    template:
      metadata: {{annotations: {{kwok.stowplan.dev/hold: "true"}}}}
      spec: {{automountServiceAccountToken: false, containers: [{{name: main, image: local/server}}]}}
  worker:
    replicas: 2
    template:
      metadata: {{annotations: {{kwok.stowplan.dev/hold: "true"}}}}
      spec: {{containers: [{{name: main, image: "local/train:{image}"}}]}}
"""


@dataclass(frozen=True)
class Story:
    """A namespace of its own, and what is compiled for it."""

    cluster: Cluster
    home: str
    jobs: str
    port: int
    folder: Path

    def apply(self, image: str = "1") -> list[Manifest]:
        """Sync one run beside what is there already; gives its objects."""
        text = _SPECS.format(home=self.home, jobs=self.jobs, port=self.port, image=image)
        folder = self.folder / f"image-{image}"
        folder.mkdir()
        result = compiled(folder, {"specs.yaml": text})
        assert result.errors == []
        return sync.apply(self.cluster.admin, [_body(output) for output in result.outputs])

    def job(self, manifests: list[Manifest], role: str) -> Manifest:
        """Names the Job of a role."""
        if self.jobs == "jobset":
            return ref("batch/v1", "Job", f"{self.job_set(manifests)['metadata']['name']}-{role}-0", self.home)
        (job,) = (each for each in _of_kind(manifests, "Job") if _role(each) == role)
        return ref("batch/v1", "Job", job["metadata"]["name"], self.home)

    def job_set(self, manifests: list[Manifest]) -> Manifest:
        (job_set,) = _of_kind(manifests, "JobSet")
        return ref(job_set["apiVersion"], "JobSet", job_set["metadata"]["name"], self.home)

    def pods(self, job: Manifest) -> list[Manifest]:
        """Of a Job."""
        labels = f"batch.kubernetes.io/job-name={job['metadata']['name']}"
        return self.cluster.admin.list("v1", "Pod", self.home, labels)

    def running(self, job: Manifest, count: int = 2) -> bool:
        """Whether so many pods of a Job run."""
        pods = self.pods(job)
        return len(pods) == count and all(pod["status"].get("phase") == "Running" for pod in pods)

    def end(self, job: Manifest, exit_code: int = 0, *, indexes: tuple[str, ...] = ("0", "1")) -> None:
        """Let pods of a Job end."""
        for pod in self.pods(job):
            if pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] in indexes:
                end(self.cluster, pod, exit_code)

    def ended(self, thing: Manifest, condition: str) -> str:
        """Whether a condition holds: its reason, else nothing."""
        for each in self.cluster.admin.get(thing).get("status", {}).get("conditions") or []:
            if each["type"] == condition and each["status"] == "True":
                return str(each["reason"])
        return ""


def _body(output: OutputFile) -> Manifest:
    return output.manifest.body


def _of_kind(manifests: list[Manifest], kind: str) -> list[Manifest]:
    return [each for each in manifests if each["kind"] == kind]


def _role(job: Manifest) -> str:
    role: str = job["metadata"]["labels"]["app.kubernetes.io/component"]
    return role


@pytest.fixture
def core(cluster: Cluster, tmp_path: Path) -> Iterator[Story]:
    """A story on Jobs of Kubernetes."""
    yield from _story(cluster, "core", tmp_path)


@pytest.fixture
def jobset(jobset_cluster: Cluster, tmp_path: Path) -> Iterator[Story]:
    """A story on JobSets."""
    yield from _story(jobset_cluster, "jobset", tmp_path)


def _story(cluster: Cluster, jobs: str, folder: Path) -> Iterator[Story]:
    home = cluster.namespace(f"story-{jobs}-{next(NUMBERS)}", "baseline")
    yield Story(cluster, home, jobs, free_port(), folder)
    cluster.admin.delete(ref("v1", "Namespace", home))


@pytest.fixture
def agents(core: Story) -> Iterator[Attendants]:
    """The agents of the story."""
    folder = core.folder / "agents"
    folder.mkdir()
    with attending(core.cluster, core.home, folder, core.port) as attendants:
        yield attendants


def test_servers_end_with_workers_that_succeed(core: Story, agents: Attendants) -> None:
    run = core.apply()
    servers, workers = core.job(run, "ps"), core.job(run, "worker")
    agents.until(lambda: core.running(servers) and core.running(workers), what="running pods")
    agents.until(lambda: len(agents.by_pod) == 2 and all("is running" in each.log for each in agents.by_pod.values()))
    core.end(workers, indexes=("0",))
    agents.until(lambda: core.cluster.admin.get(workers)["status"].get("succeeded") == 1, what="the first success")
    assert all(each.process.poll() is None for each in agents.by_pod.values())

    core.end(workers, indexes=("1",))
    agents.until(lambda: core.ended(servers, "Complete"), what="the end of the servers")
    assert core.ended(workers, "Complete")
    assert [each.process.returncode for each in agents.by_pod.values()] == [0, 0]


def test_one_failed_worker_fails_the_group(core: Story, agents: Attendants) -> None:
    run = core.apply()
    servers, workers = core.job(run, "ps"), core.job(run, "worker")
    agents.until(lambda: core.running(servers) and core.running(workers), what="running pods")
    core.end(workers, exit_code=137, indexes=("1",))
    assert agents.until(lambda: core.ended(servers, "Failed"), what="failure of the servers") == "PodFailurePolicy"
    assert core.ended(workers, "Failed") == "BackoffLimitExceeded"
    agents.until(lambda: not any(_is_active(pod) for pod in (*core.pods(servers), *core.pods(workers))))
    assert 1 in {each.process.returncode for each in agents.by_pod.values()}


def _is_active(pod: Manifest) -> bool:
    return pod["status"].get("phase") in {"Pending", "Running"}


def _noted(story: Story, job: Manifest) -> list[str]:
    """The servers that have begun, by the annotations of the workers' Job."""
    notes = story.cluster.admin.get(job)["metadata"].get("annotations") or {}
    return [key for key in notes if key.startswith("helpers.stowplan.dev/")]


def test_server_that_loses_its_node_fails_the_group(core: Story, agents: Attendants) -> None:
    """Ended by SIGTERM, the agent neither completes nor fails its Job; that in the new pod knows that it is new."""
    run = core.apply()
    servers, workers = core.job(run, "ps"), core.job(run, "worker")
    agents.until(lambda: core.running(servers) and core.running(workers) and len(agents.by_pod) == 2)
    lost = next(iter(agents.by_pod.values()))
    agents.until(lambda: len(_noted(core, workers)) == 2, what="servers that have begun")
    _disrupt(core, lost.pod)
    lost.process.terminate()
    agents.until(lambda: lost.process.poll() == 143, what="the end of the agent")
    agents.until(lambda: len(agents.by_pod) == 3, what="another server")
    assert agents.until(lambda: core.ended(workers, "Failed"), what="failure of the workers") == "DeadlineExceeded"
    assert agents.until(lambda: core.ended(servers, "Failed"), what="failure of the servers") == "PodFailurePolicy"


def _disrupt(story: Story, pod: Manifest, phase: str = "Running") -> None:
    """Mark a pod as one that is taken away, or that was, as before and after an eviction."""
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    conditions = [*story.cluster.admin.get(pod)["status"]["conditions"], condition]
    story.cluster.admin.patch(pod, {"status": {"conditions": conditions, "phase": phase}}, subresource="status")


def test_worker_that_loses_its_node_fails_the_group(core: Story, agents: Attendants) -> None:
    """The others would not take up another one."""
    run = core.apply()
    servers, workers = core.job(run, "ps"), core.job(run, "worker")
    agents.until(lambda: core.running(servers) and core.running(workers) and len(agents.by_pod) == 2)
    _disrupt(core, core.pods(workers)[0], "Failed")
    assert agents.until(lambda: core.ended(workers, "Failed"), what="failure of the workers") == "PodFailurePolicy"
    assert agents.until(lambda: core.ended(servers, "Failed"), what="failure of the servers") == "PodFailurePolicy"


def test_old_and_new_run_do_not_meet(core: Story, agents: Attendants) -> None:
    old, new = core.apply(), core.apply(image="2")
    _assert_apart(core, old, new)
    both = [core.job(run, role) for run in (old, new) for role in ("ps", "worker")]
    agents.until(lambda: all(core.running(job) for job in both), what="running pods of both runs")
    for run in (old, new):
        (service,) = _of_kind(run, "Service")
        own = {pod["metadata"]["uid"] for role in ("ps", "worker") for pod in core.pods(core.job(run, role))}
        agents.until(lambda service=service, own=own: _behind(core, service) == own)  # type: ignore[misc]

    core.end(core.job(new, "worker"))
    agents.until(lambda: core.ended(core.job(new, "ps"), "Complete"), what="the end of the new servers")
    assert core.running(core.job(old, "ps"))
    core.end(core.job(old, "worker"), exit_code=1)
    agents.until(lambda: core.ended(core.job(old, "ps"), "Failed"), what="the failure of the old servers")
    assert core.ended(core.job(new, "ps"), "Complete")


def _assert_apart(story: Story, old: list[Manifest], new: list[Manifest]) -> None:
    """No name of a run's objects is that of another; only the resource itself is one, and what the namespace has."""
    shared = _names(old) & _names(new)
    assert {kind for kind, _ in shared} == {"CustomResourceDefinition", "PaddleJob"}
    assert ("PaddleJob", "ctr") in shared
    assert story.cluster.admin.find(next(each for each in old if each["kind"] in {"Job", "JobSet"}))


def _names(run: list[Manifest]) -> set[tuple[str, str]]:
    named = ((each["kind"], each["metadata"]["name"]) for each in run)
    return {(kind, name) for kind, name in named if not name.startswith(reporter.NAME)}


def _behind(story: Story, service: Manifest) -> set[str]:
    """The pods that a Service stands for, by uid."""
    labels = f"kubernetes.io/service-name={service['metadata']['name']}"
    slices = story.cluster.admin.list("discovery.k8s.io/v1", "EndpointSlice", story.home, labels)
    return {endpoint["targetRef"]["uid"] for each in slices for endpoint in each.get("endpoints") or []}


def test_job_set_ends_with_its_workers(jobset: Story) -> None:
    run = jobset.apply()
    servers, workers, whole = jobset.job(run, "ps"), jobset.job(run, "worker"), jobset.job_set(run)
    _await_running(jobset, servers, workers)
    jobset.end(workers)
    wait_for(lambda: jobset.ended(whole, "Completed"), what="the end of the JobSet")
    wait_for(lambda: not any(_is_active(pod) for pod in jobset.pods(servers)), what="the end of the servers")


def _await_running(story: Story, *jobs: Manifest) -> None:
    admin = story.cluster.admin
    wait_for(lambda: all(admin.find(job) and story.running(job) for job in jobs), what="running pods")


@pytest.mark.parametrize("end", ["failed worker", "lost worker", "failed server"])
def test_one_pod_that_is_gone_fails_the_job_set(jobset: Story, end: str) -> None:
    """Another server would listen on the same name, but what it held is lost; the others take up no other worker."""
    run = jobset.apply()
    servers, workers, whole = jobset.job(run, "ps"), jobset.job(run, "worker"), jobset.job_set(run)
    _await_running(jobset, servers, workers)
    if end == "lost worker":
        _disrupt(jobset, jobset.pods(workers)[0], "Failed")
    else:
        jobset.end(workers if end == "failed worker" else servers, exit_code=1, indexes=("0",))
    wait_for(lambda: jobset.ended(whole, "Failed"), what="the failure of the JobSet")
    wait_for(lambda: not any(_is_active(pod) for pod in (*jobset.pods(servers), *jobset.pods(workers))))


def test_job_set_goes_on_without_servers_that_ended_with_success(jobset: Story) -> None:
    run = jobset.apply()
    servers, workers, whole = jobset.job(run, "ps"), jobset.job(run, "worker"), jobset.job_set(run)
    _await_running(jobset, servers, workers)
    jobset.end(servers)
    wait_for(lambda: jobset.ended(servers, "Complete"), what="the end of the servers")
    assert true_conditions(jobset.cluster.admin.get(whole)).isdisjoint({"Completed", "Failed"})
    assert jobset.running(workers)
    jobset.end(workers)
    wait_for(lambda: jobset.ended(whole, "Completed"), what="the end of the JobSet")
