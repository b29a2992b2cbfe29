"""The gate as a process, with the compiled rights and real Jobs: when it opens a closed run, and when it does not."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stowplan.schema.agents.gate_config import ADMISSION_GATE, OPENED
from tests.cluster.client import ApiError, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.gates import API, DATASET, TRAINING, Closed, suspended
from tests.cluster.reporters import HOLD, Site, data_cube

NUMBERS = itertools.count()
SAMPLE_SET: Manifest = {
    **ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "flowers"),
    "spec": {
        "partitions": 1,
        "source": {"uri": "s3://samples.s3.amazonaws.com/flowers/"},
        "secretRef": {"name": "volume"},
    },
}
_ROLE = {"replicas": 1, "template": {"spec": {"containers": [{"name": "main", "image": "local/none:1"}]}}}
PADDLE_JOB: Manifest = {
    **ref("batch.paddlepaddle.org/v1", "PaddleJob", "net"),
    "spec": {
        "sampleSetRef": {"name": "flowers", "mountPath": "/data", "wait": {}},
        "ps": _ROLE,
        "worker": _ROLE,
    },
}
CLEAN: Manifest = {
    **ref("batch.paddlepaddle.org/v1alpha1", "SampleJob", "clean"),
    "spec": {"type": "rmr", "sampleSetRef": {"name": "flowers"}, "rmrOptions": {"paths": ["old"]}},
}
_AFTER = ref("batch.paddlepaddle.org/v1", "PaddleJob", "net")
NET_AFTER_CLEAN: Manifest = {
    **_AFTER,
    "metadata": {**_AFTER["metadata"], "annotations": {"stowplan.dev/run-after": "SampleJob/clean"}},
    "spec": {"worker": _ROLE},
}


@pytest.fixture
def run(cluster: Cluster, tmp_path: Path) -> Iterator[Closed]:
    """A namespace of the test's own."""
    made = Closed(Site(cluster, cluster.namespace(f"gate-{next(NUMBERS)}", "baseline"), tmp_path))
    yield made
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.site.namespace}})


@pytest.fixture(params=["core", "jobset"])
def platform(request: pytest.FixtureRequest, jobset_cluster: Cluster) -> Manifest:
    """Both job engines, with their real controllers."""
    assert jobset_cluster
    return {"engines": {"jobs": request.param}}


def sync_again(run: Closed) -> None:
    """A sync of Argo CD that began before the run was opened."""
    for each in run.site.manifests:
        if "stowplan.dev/gate" in each["metadata"].get("annotations", {}):
            run.admin.apply(each)


def test_run_is_closed_until_its_dataset_is_ready_and_then_opened_once(run: Closed, platform: Manifest) -> None:
    """Neither a failure, nor the status of another run, nor that of an older spec opens it."""
    run.site.apply([DATASET, TRAINING], platform)
    with run.gate() as gate:
        run.report(ready=False)
        wait_for(lambda: gate.said("Dataset flowers is not Ready: The bucket is gone"))
        run.report(run="aaaaaaaa")
        wait_for(lambda: gate.said("by run aaaaaaaa"))
        run.admin.patch(ref(API, "Dataset", "flowers", run.site.namespace), {"spec": {"retain": True}})
        wait_for(lambda: gate.said("has no report on its newest spec"))
        # A gate acts on each of these before it hears of the next one.
        assert (run.is_closed(), run.pods()) == (True, [])
        run.report()
        wait_for(run.is_open, what="an open run")
        opened = run.workloads()[0]["metadata"]["annotations"][OPENED]
        wait_for(run.pods, what="pods")
        run.report(ready=False)
        wait_for(lambda: gate.said("Dataset flowers is not Ready") == 2, what="another failure")
        assert run.is_open()
        assert gate.said("Opened") == 1
        assert run.workloads()[0]["metadata"]["annotations"][OPENED] == opened


def test_dataset_that_comes_later_than_the_run(run: Closed) -> None:
    made = run.site.apply([DATASET, TRAINING])
    run.admin.delete(ref(API, "Dataset", "flowers", run.site.namespace))
    with run.gate() as gate:
        wait_for(lambda: gate.said("Dataset flowers does not exist"))
        run.admin.apply(next(each for each in made if each["kind"] == "Dataset"))
        run.report()
        wait_for(run.is_open, what="an open run")


def test_gate_that_dies_goes_on(run: Closed, platform: Manifest) -> None:
    """Where a run has more than one Job, between two of them: it had opened the servers."""
    run.site.apply([SAMPLE_SET, PADDLE_JOB], platform)
    *servers, last = run.workloads()
    assert [("-ps-" in each["metadata"]["name"]) for each in servers] == [True] * (last["kind"] == "Job")
    with run.gate("first") as first:
        first.kill()
    opened = {"metadata": {"annotations": {OPENED: "2026-01-01T00:00:00Z"}}, "spec": {"suspend": False}}
    for each in servers:
        run.admin.patch(each, opened)
    with run.gate("second") as second:
        wait_for(lambda: second.said("SampleSet flowers"), what="its look at the dataset")
        assert suspended(run.admin.get(last))
        report_sample_set(run)
        wait_for(run.is_open, what="an open run")
    for each in servers:
        assert run.admin.get(each)["metadata"]["annotations"][OPENED] == "2026-01-01T00:00:00Z"


def report_sample_set(run: Closed) -> None:
    (sync,) = [each for each in run.site.made("Job") if each["metadata"]["name"].startswith("flowers-sync-")]
    run.tell(SAMPLE_SET, "Ready", run=sync["metadata"]["name"][-8:])


def test_servers_are_opened_before_workers(run: Closed) -> None:
    run.site.apply([SAMPLE_SET, PADDLE_JOB])
    with run.gate() as gate:
        report_sample_set(run)
        wait_for(run.is_open, what="an open run")
        # It says so a moment after it has done so.
        wait_for(lambda: gate.said("Opened") == 2, what="its words")
        opened = [str(each["object"]) for each in gate.events() if each["message"] == "Opened"]
    assert ["-ps-" in opened[0], "-worker-" in opened[1]] == [True, True]


def test_two_gates_do_no_harm(run: Closed) -> None:
    run.site.apply([SAMPLE_SET, PADDLE_JOB])
    with run.gate("one") as one, run.gate("other") as other:
        report_sample_set(run)
        wait_for(run.is_open, what="an open run")
        for gate in (one, other):
            wait_for(lambda gate=gate: gate.said("is open") >= 2, what="its look at the open run")  # type: ignore[misc]
        assert run.is_open()
        assert one.said("Opened") + other.said("Opened") == 2


def test_users_suspend_is_respected(run: Closed) -> None:
    """Before the run is opened, in the spec; afterwards, on the Job."""
    run.site.apply([DATASET, TRAINING])
    resource = ref(API, "Training", "net", run.site.namespace)
    run.admin.patch(resource, {"spec": {"suspend": True}})
    run.report()
    with run.gate() as gate:
        wait_for(lambda: gate.said("Dataset flowers is Ready"))
        run.report(ready=False)
        wait_for(lambda: gate.said("Dataset flowers is not Ready"))
        # A gate acts on what it hears before it hears more.
        assert run.is_closed()
        run.report()
        run.admin.patch(resource, {"spec": {"suspend": False}})
        wait_for(run.is_open, what="an open run")
        run.admin.patch(run.workloads()[0], {"spec": {"suspend": True}})
        wait_for(lambda: gate.said("suspended by somebody else"))
        run.report(ready=False)
        wait_for(lambda: gate.said("Dataset flowers is not Ready") == 2)
        assert run.is_closed()


def test_run_that_a_late_sync_of_argo_cd_closes_is_opened_again(run: Closed) -> None:
    run.site.apply([DATASET, TRAINING])
    run.report()
    with run.gate("first"):
        wait_for(run.is_open, what="an open run")
        sync_again(run)
        wait_for(run.is_open, what="an open run")


def test_gate_that_starts_after_a_late_sync_opens_again(run: Closed) -> None:
    run.site.apply([DATASET, TRAINING])
    run.report()
    with run.gate("first"):
        wait_for(run.is_open, what="an open run")
    sync_again(run)
    with run.gate("second"):
        wait_for(run.is_open, what="an open run")


def test_job_set(jobset_cluster: Cluster, run: Closed) -> None:
    run.site.apply([DATASET, TRAINING], {"engines": {"jobs": "jobset"}})
    (job_set,) = run.workloads()
    assert job_set["kind"] == "JobSet"
    wait_for(
        lambda: run.admin.list("batch/v1", "Job", run.site.namespace, _jobs_of(job_set)), what="Jobs of the JobSet"
    )
    assert all(map(suspended, run.admin.list("batch/v1", "Job", run.site.namespace, _jobs_of(job_set))))
    run.report()
    with run.gate():
        wait_for(run.is_open, what="an open run")
        wait_for(
            lambda: not any(map(suspended, run.admin.list("batch/v1", "Job", run.site.namespace, _jobs_of(job_set))))
        )
        sync_again(run)
        wait_for(run.is_open, what="an open run")


def _jobs_of(job_set: Manifest) -> str:
    return f"jobset.sigs.k8s.io/jobset-name={job_set['metadata']['name']}"


def test_gate_removes_its_own_name_from_the_admission_gates_of_kueue_and_no_other(run: Closed) -> None:
    """Without Kueue, which holds the Job back by it: `test_kueue.py`."""
    run.site.apply([DATASET, TRAINING], {"engines": {"gang": "kueue", "queue": "team"}})
    (job,) = run.workloads()
    assert job["metadata"]["annotations"][ADMISSION_GATE] == "stowplan.dev/gate"
    run.admin.patch(job, {"metadata": {"annotations": {ADMISSION_GATE: "example.com/other,stowplan.dev/gate"}}})
    run.report()
    with run.gate():
        wait_for(lambda: OPENED in run.workloads()[0]["metadata"]["annotations"], what="an open run")
        assert run.workloads()[0]["metadata"]["annotations"][ADMISSION_GATE] == "example.com/other"


def test_gate_may_change_the_jobs_of_its_run_and_nothing_else(run: Closed) -> None:
    run.site.apply([DATASET, TRAINING])
    (job,) = run.workloads()
    client = run.site.cluster.client_for_service_account(run.site.namespace, "net-training-gate")
    wait_for(lambda: _allowed(lambda: client.get(job)), what="the binding")
    client.patch(job, {"metadata": {"annotations": {"example.com/try": "1"}}})
    client.get(ref(API, "Dataset", "flowers", run.site.namespace))
    (sync,) = [each for each in run.site.made("Job") if each["metadata"]["name"].startswith("flowers-sync-")]
    secret = ref("v1", "Secret", "volume", run.site.namespace)
    for refused in (
        lambda: client.get(sync),
        lambda: client.patch(sync, {}),
        lambda: client.delete(job),
        lambda: client.patch(ref(API, "Dataset", "flowers", run.site.namespace), {}),
        lambda: client.patch(ref(API, "Training", "net", run.site.namespace), {}),
        lambda: client.list("batch/v1", "Job", run.site.namespace),
        lambda: client.get(secret),
    ):
        assert not _allowed(refused)


def test_job_that_runs_after_a_task_is_opened_by_the_present_run_of_the_task(run: Closed) -> None:
    run.site.apply([SAMPLE_SET, CLEAN, NET_AFTER_CLEAN])
    (task,) = [each for each in run.site.made("Job") if each["metadata"]["name"].startswith("clean-")]
    with run.gate() as gate:
        run.tell(CLEAN, "Complete", jobName="clean-rmr-aaaaaaaa")
        wait_for(lambda: gate.said("SampleJob clean is Complete, but by run aaaaaaaa"))
        assert run.is_closed()
        run.tell(CLEAN, "Complete", jobName=task["metadata"]["name"])
        wait_for(run.is_open, what="an open run")


def net_after(kind: str, name: str) -> Manifest:
    spec = {key: value for key, value in TRAINING["spec"].items() if key != "datasets"}
    return {**TRAINING, "spec": {**spec, "runAfter": [{"kind": kind, "name": name}]}}


def test_job_that_runs_after_another_is_opened_at_the_end_of_the_other(run: Closed) -> None:
    """The status is that of a real reporter."""
    first = {**TRAINING, "metadata": {"name": "first"}}
    held = {"metadata": {"annotations": {HOLD: "true"}}}
    first["spec"] = {"framework": "torch", "image": "local/none:1", "numNodes": 2, "template": held}
    run.site.apply([first, net_after("Training", "first")])
    with run.site.reporter(), run.gate() as gate:
        run.site.until("Training", "first", phase="Running")
        wait_for(lambda: gate.said("Training first is not Complete"))
        assert run.is_closed()
        run.site.end("first")
        wait_for(run.is_open, what="an open run")
        wait_for(run.pods, what="pods")


def test_job_that_runs_after_a_data_cube_is_opened_when_the_data_are_there(run: Closed) -> None:
    """The status is that of a real reporter."""
    run.site.apply([data_cube("weights"), net_after("DataCube", "weights")])
    with run.site.reporter(), run.gate() as gate:
        wait_for(lambda: gate.said("DataCube weights is not Complete"))
        assert run.is_closed()
        run.claim("models")
        wait_for(run.is_open, what="an open run")
    assert run.site.status("DataCube", "weights")["phase"] == "Succeeded"


def _allowed(request: Callable[[], object]) -> bool:
    try:
        request()
    except ApiError as error:
        if error.status == 403:
            return False
        raise
    return True
