"""The real Kueue, with its webhooks, admits compiled jobs, holds them back, makes them smaller and preempts them."""

import itertools
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stowplan.library.engines.gang.kueue import Kueue as Engine
from stowplan.schema.agents.gate_config import OPENED
from tests.cluster import sync
from tests.cluster.client import ApiError, Client, Manifest, ref, true_conditions, wait_for
from tests.cluster.edits import accepts
from tests.cluster.gates import DATASET, Closed
from tests.cluster.reporters import HOLD, Site, paddle_job
from tests.nightly.cluster import queues
from tests.nightly.cluster.kueues import Kueue
from tests.nightly.cluster.queues import API, conditions, make_priorities, make_queue, reserved, workload

NUMBERS = itertools.count()
ENGINES = ["core", "jobset"]
GATE = "kueue.x-k8s.io/admission-gated-by"
INITIALIZING = {"kwok.stowplan.dev/initializing": "true"}
HIGH: Manifest = {"scheduling": {"priority": "high"}}
RACK = "example.com/rack"


@dataclass
class Queued(Site):
    """A namespace with a queue, whose platform lets Kueue decide."""

    jobs: str = "core"

    @property
    def platform(self) -> Manifest:
        engines = {"jobs": self.jobs, "gang": "kueue", "queue": queues.QUEUE}
        return {"engines": engines, "paddle": {"elasticServers": ["etcd.ml:2379"]}}

    def sync(self, *specs: Manifest) -> list[Manifest]:
        """Compile specs and apply what comes of them; gives the Jobs and JobSets in the order of the specs."""
        made = self.apply(specs, self.platform)
        jobs = [each for each in made if each["kind"] in {"Job", "JobSet"}]
        names = [each["metadata"]["name"] for each in specs]
        return sorted(jobs, key=lambda each: names.index(each["metadata"]["labels"]["stowplan.dev/name"]))

    def running(self, name: str) -> list[Manifest]:
        """The pods of a spec that run."""
        return [pod for pod in self.pods(name) if pod["status"].get("phase") == "Running"]

    def until_running(self, name: str, count: int) -> list[Manifest]:
        wait_for(lambda: len(self.running(name)) == count, what=f"{count} running pods of {name}")
        return self.running(name)

    def until_refused(self, job: Manifest) -> None:
        """Wait until Kueue has looked at a job and found no room for it."""
        wait_for(
            lambda: self.reason(job, "QuotaReserved") == "Pending", what=f"the refusal of {job['metadata']['name']}"
        )

    def reason(self, job: Manifest, condition: str) -> str:
        """Of a condition of the job's Workload; empty where there is none."""
        if not self.has_workload(job):
            return ""
        found = workload(self.cluster.admin, job).get("status", {}).get("conditions") or []
        return "".join(each["reason"] for each in found if each["type"] == condition)

    def is_over(self, job: Manifest) -> bool:
        """Whether Kueue stopped a job for good, or Kubernetes failed it."""
        stopped = self.reason(job, "Evicted") == "DeactivatedDueToMaximumExecutionTimeExceeded"
        return stopped or "Failed" in true_conditions(self.cluster.admin.get(job))

    def has_workload(self, job: Manifest) -> bool:
        try:
            return bool(workload(self.cluster.admin, job))
        except LookupError:
            return False


@pytest.fixture
def site(kueue: Kueue, tmp_path: Path) -> Iterator[Queued]:
    """A namespace of the test's own, without a queue; the nodes are free again when it is over."""
    made = Queued(kueue.cluster, kueue.cluster.namespace(f"kueue-{next(NUMBERS)}"), tmp_path)
    yield made
    admin, namespace = kueue.cluster.admin, made.namespace
    # The end of a namespace takes eight seconds and more where a Workload waits for its job.
    for api, kind in (("batch/v1", "Job"), ("jobset.x-k8s.io/v1alpha2", "JobSet")):
        admin.request("DELETE", admin.collection(ref(api, kind, "", namespace)), {"propagationPolicy": "Background"})
    for api, kind in (("v1", "Pod"), (API, "Workload")):
        wait_for(partial(_gone, admin, namespace, api, kind), what=f"the end of each {kind}")
    admin.delete(ref("v1", "Namespace", namespace))


def _gone(admin: Client, namespace: str, api: str, kind: str) -> bool:
    return not admin.list(api, kind, namespace)


@pytest.fixture(scope="module")
def racks(kueue: Kueue) -> dict[str, str]:
    """The rack of each node: two, of two nodes each."""
    admin = kueue.cluster.admin
    found = {node["metadata"]["name"]: f"rack-{number // 2}" for number, node in enumerate(admin.list("v1", "Node"))}
    for name, rack in found.items():
        admin.patch(ref("v1", "Node", name), {"metadata": {"labels": {RACK: rack}}})
    return found


def training(name: str, nodes: int, cpu: int = 1, **fields: Any) -> Manifest:
    """A Training whose pods run until they are told to end."""
    template = {"metadata": {"annotations": {HOLD: "true"}}}
    resources = {"requests": {"cpu": str(cpu)}}
    given = {"framework": "torch", "image": "local/none:1", "numNodes": nodes, "resourcesPerNode": resources}
    return {**ref("stowplan.dev/v1alpha1", "Training", name), "spec": {**given, "template": template, **fields}}


@pytest.mark.parametrize("jobs", ENGINES)
def test_jobs_wait_for_quota_in_the_order_in_which_they_came(site: Queued, jobs: str) -> None:
    site.jobs, admin = jobs, site.cluster.admin
    queue = make_queue(admin, site.namespace, 5)
    (first,) = site.sync(training("first", 3))
    site.until_running("first", 3)
    wait_for(lambda: reserved(admin, queue) == 3, what="the quota of the first")
    (second,) = site.sync(training("second", 3))
    site.until_refused(second)
    assert site.pods("second") == []
    site.end("first")
    site.until_running("second", 3)
    assert "Finished" in conditions(admin, first)


def test_job_that_waits_in_an_init_container_holds_quota_and_is_evicted(kueue: Kueue, site: Queued) -> None:
    """So a job that waits for its data must not be admitted."""
    admin = kueue.cluster.admin
    queue = make_queue(admin, site.namespace, 3)
    (waiting,) = site.sync(training("waiting", 2, template={"metadata": {"annotations": INITIALIZING}}))
    wait_for(lambda: len(site.pods("waiting")) == 2, what="pods in their init containers")
    (ready,) = site.sync(training("ready", 2))
    site.until_refused(ready)
    wait_for(lambda: reserved(admin, queue) == 2, what="the quota of the job that waits")
    # It must outlast the start of the other job, which Kueue waits for too.
    with kueue.patience("15s"):
        wait_for(lambda: site.reason(waiting, "Evicted") == "PodsReadyTimeout", what="eviction")
        site.until_running("ready", 2)
        assert admin.get(waiting)["spec"]["suspend"] is True
        wait_for(lambda: site.pods("waiting") == [], what="the end of its pods")


@pytest.mark.parametrize("jobs", ENGINES)
def test_job_with_an_admission_gate_holds_no_quota(site: Queued, jobs: str) -> None:
    """Kueue lets a gate only be taken away, so a sync must not bring it back."""
    site.jobs, admin = jobs, site.cluster.admin
    queue = make_queue(admin, site.namespace, 3)
    compiled = site.compile([training("gated", 2)], site.platform)
    (gated,) = [each for each in compiled if each["kind"] in {"Job", "JobSet"}]
    gated["metadata"].setdefault("annotations", {})[GATE] = "stowplan.dev/gate"
    admin.apply(gated)
    wait_for(lambda: site.has_workload(gated), what="the Workload of the gated job")
    site.sync(training("other", 2))
    site.until_running("other", 2)
    assert (conditions(admin, gated), site.pods("gated")) == (set(), [])
    wait_for(lambda: reserved(admin, queue) == 2, what="the quota of the other alone")
    site.end("other")
    wait_for(lambda: reserved(admin, queue) == 0, what="the end of the other")
    assert conditions(admin, gated) == set()
    admin.patch(gated, {"metadata": {"annotations": {GATE: None}}})
    site.until_running("gated", 2)
    with pytest.raises(ApiError, match="cannot add admission gate after creation"):
        admin.apply(gated, dry_run=True)


@pytest.mark.parametrize("jobs", ENGINES)
def test_closed_run_holds_no_quota_until_its_gate_opens_it_once(site: Queued, jobs: str) -> None:
    """Another job has the quota meanwhile. The first gate dies before the dataset is ready, the next once it opened."""
    site.jobs, admin, run = jobs, site.cluster.admin, Closed(site)
    queue = make_queue(admin, site.namespace, 3)
    waits = [{"name": "flowers", "mountPath": "/data", "wait": {}}]
    site.apply([DATASET, training("net", 2, datasets=waits), training("other", 2)], site.platform)
    (net,) = run.workloads()
    site.until_running("other", 2)
    with run.gate("first") as first:
        wait_for(lambda: first.said("Dataset flowers"), what="its look at the dataset")
        first.kill()
    assert run.is_closed()
    assert (conditions(admin, net), reserved(admin, queue)) == (set(), 2)
    run.report()
    with run.gate("second") as second:
        wait_for(lambda: second.said("Opened"), what="an open run")
        second.kill()
    opened = admin.get(net)["metadata"]["annotations"]
    assert GATE not in opened
    site.until_refused(net)
    site.end("other")
    wait_for(run.pods, what="its pods")
    with run.gate("third") as third:
        wait_for(lambda: third.said("is open"), what="its look at the open run")
        assert run.is_open()
        assert third.said("Opened") == 0
    assert admin.get(net)["metadata"]["annotations"][OPENED] == opened[OPENED]


@pytest.mark.parametrize("jobs", ENGINES)
def test_job_of_higher_priority_takes_the_place_of_another_which_comes_back(site: Queued, jobs: str) -> None:
    site.jobs, admin = jobs, site.cluster.admin
    make_queue(admin, site.namespace, 3)
    make_priorities(admin)
    (low,) = site.sync(training("low", 2, scheduling={"priority": "low"}))
    before = {pod["metadata"]["uid"] for pod in site.until_running("low", 2)}
    with site.reporter():
        (high,) = site.sync(training("low", 2, scheduling={"priority": "low"}), training("high", 2, **HIGH))[1:]
        site.until_running("high", 2)
        assert "Preempted" in conditions(admin, low)
        status = site.until("Training", "low", phase="Pending", Suspended="Suspended")
        assert "not by `suspend`" in status["message"]
        site.until("Training", "high", phase="Running")
        site.end("high")
        site.until("Training", "low", phase="Running")
    after = {pod["metadata"]["uid"] for pod in site.until_running("low", 2)}
    assert not before & after
    assert "Finished" in conditions(admin, high)


def test_waiting_jobs_are_admitted_by_priority(site: Queued) -> None:
    admin = site.cluster.admin
    make_queue(admin, site.namespace, 2)
    make_priorities(admin)
    site.sync(training("first", 2, **HIGH))
    site.until_running("first", 2)
    (low,) = site.sync(training("second", 2, scheduling={"priority": "low"}))
    site.until_refused(low)
    (high,) = site.sync(training("third", 2, **HIGH))
    site.until_refused(high)
    site.end("first")
    site.until_running("third", 2)
    assert site.pods("second") == []
    assert workload(admin, high)["spec"]["priority"] == 1000


def test_elastic_job_gets_as_many_nodes_as_there_is_room_for(site: Queued) -> None:
    """It keeps that number until it is admitted again: Kueue itself refuses to change the size of a job that runs."""
    admin = site.cluster.admin
    queue = make_queue(admin, site.namespace, 4)
    make_priorities(admin)
    site.sync(training("fixed", 1, **HIGH))
    site.until_running("fixed", 1)
    (job,) = site.sync(training("elastic", 4, elastic={"min": 2, "max": 4}, scheduling={"priority": "low"}))
    site.until_running("elastic", 3)
    live = admin.get(job)["spec"]
    assert (live["parallelism"], live["completions"]) == (3, 3)
    site.end("fixed")
    wait_for(lambda: reserved(admin, queue) == 3, what="the end of the other")
    assert len(site.running("elastic")) == 3
    with pytest.raises(ApiError, match="cannot change when partial admission is enabled"):
        admin.patch(job, {"spec": {"parallelism": 4, "completions": 4}})
    site.sync(training("urgent", 2, **HIGH))
    site.until_running("urgent", 2)
    site.until_running("elastic", 2)
    site.end("urgent")
    wait_for(lambda: reserved(admin, queue) == 2, what="the end of the urgent one")
    assert len(site.running("elastic")) == 2


def elastic_training_job() -> Manifest:
    """Two to six trainers in a Job of their own, whose size Kueue sets; master and servers are a JobSet beside it."""

    def role(entrypoint: str, least: int, most: int, cpu: int) -> Manifest:
        resources = {"requests": {"cpu": str(cpu)}}
        return {"entrypoint": entrypoint, "min-instance": least, "max-instance": most, "resources": resources}

    spec = {"image": "local/none:1", "fault_tolerant": True}
    spec |= {"trainer": role("train", 2, 6, 4), "pserver": role("serve", 2, 2, 2)}
    return {**ref("paddlepaddle.org/v1alpha1", "TrainingJob", "word2vec"), "spec": spec}


def test_elastic_training_job_comes_back_with_another_size(site: Queued) -> None:
    """Others have a part of the quota; a job of higher priority takes the rest."""
    site.jobs, admin = "jobset", site.cluster.admin
    site.cluster.namespace(site.namespace, "baseline")
    make_queue(admin, site.namespace, 23)
    make_priorities(admin)
    others = {"other": training("other", 1, cpu=4, **HIGH), "urgent": training("urgent", 1, cpu=12, **HIGH)}
    site.sync(others["other"])
    site.until_running("other", 1)
    made = site.compile_held([elastic_training_job()], site.platform)
    # Whichever Kueue looks at first is admitted first, and trainers take all that they can get.
    sync.apply(admin, [each for each in made if each["kind"] != "Job"])
    (servers,) = (each for each in made if each["kind"] == "JobSet")
    wait_for(lambda: "Admitted" in conditions(admin, servers), what="the admission of master and servers")
    site.manifests = sync.apply(admin, made)
    with site.reporter():
        site.until("TrainingJob", "word2vec", phase="Running", trainers="3/3")
        sync.apply(admin, site.compile([others["urgent"]], site.platform))
        site.until("TrainingJob", "word2vec", Suspended="Suspended", trainers="0/6", fulfillment="100%")
        # One after the other: whoever is admitted while the first is there stays as small as it was then.
        for name in others:
            site.until_running(name, 1)
            site.end(name)
            wait_for(lambda name=name: not site.running(name), what=f"the end of {name}")  # type: ignore[misc]
        site.until("TrainingJob", "word2vec", phase="Running", trainers="4/4", fulfillment="50%")
        for pod in site.pods("word2vec"):
            if pod["metadata"]["labels"]["stowplan.dev/role"] == "trainer":
                admin.patch(pod, {"metadata": {"annotations": {HOLD: None}}})
        site.until("TrainingJob", "word2vec", phase="Succeed")


def test_elastic_job_waits_where_its_smallest_size_does_not_fit(site: Queued) -> None:
    make_queue(site.cluster.admin, site.namespace, 2)
    (job,) = site.sync(training("elastic", 4, elastic={"min": 3, "max": 4}))
    site.until_refused(job)
    assert site.pods("elastic") == []


@pytest.mark.parametrize("jobs", ENGINES)
def test_job_whose_time_is_over_is_stopped_for_good(site: Queued, jobs: str) -> None:
    """Kueue's limit and that of the Job are over at about the same time: Kueue suspends it, or Kubernetes fails it.

    The limit must outlast the start of the pods, which the test looks for, on a machine that is busy.
    """
    site.jobs, admin = jobs, site.cluster.admin
    make_queue(admin, site.namespace, 2)
    (job,) = site.sync(training("long", 2, activeDeadlineSeconds=15))
    wait_for(lambda: len(site.pods("long")) == 2, what="its pods")
    assert workload(admin, job)["spec"]["maximumExecutionTimeSeconds"] == 15
    wait_for(lambda: not site.running("long") and site.is_over(job), what="the end of its time")


@pytest.mark.parametrize("jobs", ENGINES)
def test_pods_of_a_topology_are_near_to_each_other(site: Queued, racks: dict[str, str], jobs: str) -> None:
    """Kueue gives each pod its rack, and takes away the gate that it put there."""
    site.jobs, admin = jobs, site.cluster.admin
    make_queue(admin, site.namespace, 8000, topology=(RACK, "kubernetes.io/hostname"))
    site.sync(training("near", 4, cpu=400, scheduling={"topology": {"required": RACK}}))
    pods = site.until_running("near", 4)
    assert len({racks[pod["spec"]["nodeName"]] for pod in pods}) == 1
    (wide,) = site.sync(training("wide", 4, cpu=700, scheduling={"topology": {"required": RACK}}))
    site.until_refused(wide)
    site.end("near")
    site.sync(training("rather", 3, cpu=700, scheduling={"topology": {"preferred": RACK}}))
    assert len({racks[pod["spec"]["nodeName"]] for pod in site.until_running("rather", 3)}) == 2


PLACED = {"nodeSelector": {"kubernetes.io/os": "linux"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]}
"""Fields of a user's pods to which Kueue adds its own."""
NEAR = {"topology": {"required": RACK}, "priority": "high"}


def placed_training(nodes: int, **fields: Any) -> Manifest:
    template = {"metadata": {"annotations": {HOLD: "true"}}, "spec": PLACED}
    return training("a", nodes, scheduling=NEAR, template=template, **fields)


def placed_paddle_job(workers: int, **fields: Any) -> Manifest:
    job = paddle_job("a", workers, **PLACED)
    (container,) = job["spec"]["worker"]["template"]["spec"]["containers"]
    container["resources"] = {"requests": {"cpu": "1"}}
    return {**job, "spec": {**job["spec"], **fields}}


ADMITTED = {
    ("Training", "core"): (placed_training(4, elastic={"min": 2, "max": 4}), 3),
    ("Training", "jobset"): (placed_training(2), 2),
    ("PaddleJob", "core"): (placed_paddle_job(4, elastic=1, schedulingPolicy={"minAvailable": 2}), 3),
    ("PaddleJob", "jobset"): (placed_paddle_job(2), 2),
}
"""By kind and job engine: a spec, and how many of its pods the queue has room for. Those on `core` are elastic."""


@pytest.mark.parametrize("case", ADMITTED, ids="-".join)
def test_later_sync_leaves_an_admitted_job_alone(site: Queued, racks: dict[str, str], case: tuple[str, str]) -> None:
    """Argo CD ignores what Kueue writes. If it did not, a sync would undo the admission, or be refused."""
    admin, (spec, room) = site.cluster.admin, ADMITTED[case]
    assert racks
    site.jobs = case[1]
    make_queue(admin, site.namespace, 3, topology=(RACK,))
    make_priorities(admin)
    (job,) = site.sync(spec)
    site.until_running("a", room)
    before = admin.get(job)
    assert before["spec"]["suspend"] is False
    assert "suspend" not in job["spec"]
    assert _template(before)["spec"]["tolerations"] == [*PLACED["tolerations"], queues.TOLERATION]
    after = admin.apply(_as_argo_cd_sends(job, before), dry_run=True)
    assert after["spec"] == before["spec"]
    assert not accepts(admin, job) or admin.apply(job, dry_run=True)["spec"] != before["spec"]


def _template(job: Manifest) -> Manifest:
    spec = job["spec"]
    found: Manifest = (
        spec["replicatedJobs"][0]["template"]["spec"]["template"] if job["kind"] == "JobSet" else spec["template"]
    )
    return found


def _as_argo_cd_sends(manifest: Manifest, live: Manifest) -> Manifest:
    """With `RespectIgnoreDifferences` the ignored fields get the values of the live object."""
    sent = deepcopy(manifest)
    for shared in Engine().shared_fields():
        if shared.kind == manifest["kind"]:
            for path in (*shared.paths, *shared.queries):
                _take_over(sent, live, re.findall(r"[^./\[\]]+|\[\]", path))
    return sent


def _take_over(sent: Any, live: Any, path: list[str]) -> None:
    first, *rest = path
    if first == "[]":
        for own, other in zip(sent, live, strict=True):
            _take_over(own, other, rest)
    elif rest:
        _take_over(sent[first], live[first], rest)
    elif first in live:
        sent[first] = live[first]
