"""The reporter on a real API server with real controllers, and only the rights of its compiled Role."""

import asyncio
import itertools
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.client import Client
from stowplan.agents.reporter.applying import manifest
from stowplan.agents.reporter.objects import resources
from stowplan.agents.reporter.objects.cache import ObjectCache
from stowplan.agents.reporter.rules import registry
from stowplan.agents.reporter.watching import Watching
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.field_managers import CACHE_SUM, REPORTER, TRANSFER, cache, task
from tests.agents.relay import relay
from tests.cluster.client import ApiError, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.ownership import leaves
from tests.cluster.reporters import HOLD, Site, data_cube, paddle_job

KINDS = {kind.kind: kind for kind in resources.KINDS}
NUMBERS = itertools.count()
NOWHERE: Manifest = {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A namespace of the test's own."""
    name = "reporter-" + request.node.originalname.removeprefix("test_").replace("_", "-")[:40].rstrip("-")
    name += f"-{next(NUMBERS)}"
    made = Site(cluster, cluster.namespace(name), tmp_path)
    yield made
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.namespace}})


def test_life_of_a_job(site: Site) -> None:
    site.apply([paddle_job("job", workers=2)])
    before = site.cluster.admin.get(site.made("PaddleJob")[0])["spec"]
    with site.reporter():
        status = site.until("PaddleJob", "job", phase="Running", Complete="Running")
        assert status["worker"]["running"] == 2
        assert len(status["worker"]["refs"]) == 2
        assert (status["mode"], status["observedGeneration"]) == ("Collective", 1)
        site.end("job")
        after = site.until("PaddleJob", "job", phase="Completed", Complete="Succeeded")
    assert after["startTime"] == status["startTime"] <= after["completionTime"]
    live = site.cluster.admin.get(site.made("PaddleJob")[0])
    assert live["spec"] == before
    managers = {each["manager"]: each for each in live["metadata"]["managedFields"]}
    assert set(managers[REPORTER]["fieldsV1"]) == {"f:status"}
    assert (managers[REPORTER]["operation"], managers[REPORTER]["subresource"]) == ("Apply", "status")


def failed(reason: str = "", code: int = 1, **more: Any) -> Manifest:
    """The status of a pod whose container has ended."""
    ended = {"exitCode": code, "reason": reason or "Error", "finishedAt": "2026-01-01T00:00:00Z"}
    container = {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0}
    return {"phase": "Failed", "containerStatuses": [{**container, "state": {"terminated": ended}}], **more}


def disrupted(reason: str) -> Manifest:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "the node is gone"}
    return failed(code=137, conditions=[condition])


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        (failed("OOMKilled", 137), "OOMKilled", "memory"),
        (failed("Error", 3), "ContainerFailed", "exit code 3"),
        (failed(reason="Evicted", conditions=[]) | {"reason": "Evicted", "message": "low on memory"}, "Evicted", "low"),
    ],
    ids=["oom", "exit", "evicted"],
)
def test_pod_that_fails(site: Site, status: Manifest, reason: str, words: str) -> None:
    site.apply([paddle_job("job")])
    with site.reporter():
        site.until("PaddleJob", "job", phase="Running")
        (pod,) = site.pods("job")
        site.patch_status(pod, status)
        told = site.until("PaddleJob", "job", phase="Failed", Failed=reason)
    (message,) = (each["message"] for each in told["conditions"] if each["type"] == "Failed")
    for word in (words, pod["metadata"]["name"], pod["spec"]["nodeName"]):
        assert word in message


def test_node_that_does_not_answer(site: Site) -> None:
    site.apply([paddle_job("job")])
    with site.reporter():
        site.until("PaddleJob", "job", phase="Running")
        (pod,) = site.pods("job")
        conditions = [
            {**each, "status": "False"} if each["type"] == "Ready" else each for each in pod["status"]["conditions"]
        ]
        site.patch_status(pod, {"conditions": conditions})
        status = site.until("PaddleJob", "job", Complete="NodeLost")
        assert status["worker"]["unknown"] == 1
        site.patch_status(pod, disrupted("DeletionByTaintManager"))
        # Such a pod is made again and fails nothing.
        site.until("PaddleJob", "job", phase="Running")


def test_pod_without_a_node_and_then_without_its_image(site: Site) -> None:
    site.apply([paddle_job("job", **NOWHERE)])
    with site.reporter():
        site.until("PaddleJob", "job", phase="Pending", Complete="Unschedulable", Stalled="NotStalled")
        (pod,) = site.pods("job")
        waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}
        container = {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0, "state": waiting}
        site.patch_status(pod, {"containerStatuses": [container]})
        site.until("PaddleJob", "job", phase="Pending", Stalled="ImagePullFailed")


@pytest.mark.parametrize(("seconds", "reason"), [(2, "DeadlineExceeded"), (1, "HelperLost")])
def test_deadline(site: Site, seconds: int, reason: str) -> None:
    site.apply([paddle_job("job")])
    with site.reporter():
        site.until("PaddleJob", "job", phase="Running")
        (job,) = site.made("Job")
        site.cluster.admin.patch(job, {"spec": {"activeDeadlineSeconds": seconds}})
        site.until("PaddleJob", "job", phase="Failed", Failed=reason)


def test_edit_replaces_the_run(site: Site) -> None:
    first = site.apply([paddle_job("job")])
    with site.reporter():
        before = site.until("PaddleJob", "job", phase="Running")
        site.end("job", exit_code=1)
        site.until("PaddleJob", "job", phase="Failed")
        (old,) = (each for each in first if each["kind"] == "Job")
        site.apply([paddle_job("job", workers=2)])
        after = site.until("PaddleJob", "job", phase="Running", observedGeneration=2)
        assert after["run"] != before["run"]
        assert after["worker"]["running"] == 2
        assert "completionTime" not in after
        site.cluster.admin.delete(old)
        time.sleep(1)
        assert site.status("PaddleJob", "job")["run"] == after["run"]


def test_jobs_that_are_removed_leave_nothing_behind(site: Site) -> None:
    """What was told of them goes from the status, and the rest can still be written."""
    site.apply([paddle_job("job", workers=2)])
    with site.reporter():
        site.until("PaddleJob", "job", phase="Running")
        (job,) = site.made("Job")
        site.cluster.admin.delete(job)
        status = site.until("PaddleJob", "job", phase="Pending", Complete="NotStarted")
        assert not set(status) & {"worker", "run", "startTime"}
        site.cluster.admin.apply(job)
        site.until("PaddleJob", "job", phase="Running")


def test_resource_that_is_made_again(site: Site) -> None:
    site.apply([paddle_job("job")])
    with site.reporter():
        site.until("PaddleJob", "job", phase="Running")
        (resource,) = site.made("PaddleJob")
        site.cluster.admin.delete(resource)
        site.cluster.admin.apply(resource)
        site.until("PaddleJob", "job", phase="Running", observedGeneration=1)


def test_server_that_goes_away_and_comes_back(site: Site) -> None:
    site.apply([paddle_job("job")])
    with relay(site.cluster.trust.server) as way, site.reporter(server=way.url) as reporter:
        site.until("PaddleJob", "job", phase="Running")
        listed = reporter.said("Listed")
        way.stop()
        site.end("job")
        wait_for(lambda: site.cluster.admin.get(site.made("Job")[0])["status"].get("completionTime"))
        time.sleep(1)
        assert site.status("PaddleJob", "job")["phase"] == "Running"
        way.start()
        site.until("PaddleJob", "job", phase="Completed")
        # It went on where it was: nothing was listed again.
        assert reporter.said("Listed") == listed == 16


def test_version_that_the_server_no_longer_has(site: Site) -> None:
    site.apply([paddle_job("job")])
    (site.folder / "token").write_text(site.token(), encoding="ascii")
    trust = site.cluster.trust
    access = Access(trust.server, site.folder / "token", trust.authority.certificate)
    kind = KINDS["PaddleJob"]
    known = ObjectCache(partial(resources.resource, namespace=site.namespace, kind=kind), lambda _: None)

    async def story() -> None:
        async with Client(access, "test") as client:
            # The server has versions of a custom kind from the moment on at which its CRD was made.
            watching = asyncio.create_task(
                Watching(client, kind.served.collection(site.namespace), known, Log()).run("1")
            )
            async with asyncio.timeout(30):
                while not known.complete:
                    await asyncio.sleep(0.05)
            watching.cancel()

    asyncio.run(story())
    assert [each.name for each in known.of(("PaddleJob", "job"))] == ["job"]


def test_job_set(jobset_cluster: Cluster, site: Site) -> None:
    spec = paddle_job("job", workers=2)
    spec["spec"]["ps"] = {"replicas": 1, "template": spec["spec"]["worker"]["template"]}
    site.apply([spec], {"engines": {"jobs": "jobset"}})
    with site.reporter():
        status = site.until("PaddleJob", "job", phase="Running")
        assert (status["mode"], status["ps"]["running"], status["worker"]["running"]) == ("PS", 1, 2)
        workers = [each for each in site.pods("job") if each["metadata"]["labels"]["stowplan.dev/role"] == "worker"]
        site.patch_status(workers[0], failed("OOMKilled", 137))
        status = site.until("PaddleJob", "job", phase="Failed", Failed="OOMKilled")
        assert workers[0]["metadata"]["name"] in str(status["conditions"])


ELASTIC = {
    **ref("paddlepaddle.org/v1alpha1", "TrainingJob", "job"),
    "spec": {"local_job": True, "trainer": {"min-instance": 2, "max-instance": 4, "entrypoint": "train"}},
}


def test_scaling(site: Site) -> None:
    """Of a Job as a queue would have it, which may be resized; its pods are held."""
    site.apply([ELASTIC])
    (made,) = site.made("Job")
    safe = paddle_job("x")["spec"]["worker"]["template"]["spec"]["containers"][0]
    labels = {**made["spec"]["template"]["metadata"]["labels"], "stowplan.dev/run-hash": "zzzzzzzz"}
    template = {
        "metadata": {"labels": labels, "annotations": {HOLD: "true"}},
        "spec": {"containers": [safe], "restartPolicy": "Never"},
    }
    metadata = {"name": "job-zzzzzzzz", "namespace": site.namespace, "labels": made["metadata"]["labels"]}
    sizes = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
    job = {**ref("batch/v1", "Job", "job-zzzzzzzz"), "metadata": metadata, "spec": {**sizes, "template": template}}
    with site.reporter():
        time.sleep(1)
        site.cluster.admin.create(job)
        status = site.until("TrainingJob", "job", phase="Running", trainers="2/2", run="zzzzzzzz")
        assert "scale_records" not in status
        site.cluster.admin.patch(job, {"spec": {"completions": 4, "parallelism": 4}})
        status = site.until("TrainingJob", "job", phase="Running", trainers="4/4")
        (record,) = status["scale_records"]["ScaleRecords"]
        assert (record["additional"], record["status"]) == (2, "True")
        assert record["scaleTimestamp"] >= status["startTime"]


@pytest.mark.parametrize("anew", [False, True])
def test_report_on_another_version_or_object_is_refused(site: Site, *, anew: bool) -> None:
    """What was judged by an older state never takes the place of what was judged by a newer one."""
    site.apply([paddle_job("job")])
    admin, (made,) = site.cluster.admin, site.made("PaddleJob")
    live = admin.get(made)
    seen = resources.resource(live, site.namespace, KINDS["PaddleJob"])
    assert seen is not None
    if anew:
        admin.delete(made)
        admin.apply(made)
    else:
        admin.patch(made, {"status": {"phase": "Running"}}, subresource="status")
    with pytest.raises(ApiError) as error:
        admin.apply(manifest(seen, {"phase": "Pending"}), manager=REPORTER, subresource="status")
    assert error.value.status == 409


def test_two_do_no_harm(site: Site) -> None:
    site.apply([paddle_job("job", workers=2)])
    with site.reporter("one"), site.reporter("two"):
        site.until("PaddleJob", "job", phase="Running")
        site.end("job")
        site.until("PaddleJob", "job", phase="Completed")
        time.sleep(2)
        (resource,) = site.made("PaddleJob")
        before = site.cluster.admin.get(resource)["metadata"]["resourceVersion"]
        time.sleep(4)
        assert site.cluster.admin.get(resource)["metadata"]["resourceVersion"] == before


SPECS = [
    data_cube("cube"),
    {
        **ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "data"),
        "spec": {"partitions": 1, "source": {"uri": "s3://bucket/data"}, "secretRef": {"name": "volume"}},
    },
    {
        **ref("batch.paddlepaddle.org/v1alpha1", "SampleJob", "rmr"),
        "spec": {"type": "rmr", "sampleSetRef": {"name": "data"}, "rmrOptions": {"paths": ["old"]}},
    },
]
AGENTS: dict[str, dict[str, Manifest]] = {
    "SampleSet": {
        cache(0): {"partitions": [{"ordinal": 0, "node": "node-0", "cachedBytes": 1}]},
        CACHE_SUM: {"cacheStatus": {"cachedSize": "3 B"}, "jobsName": {"syncJobName": "data-sync"}},
        task("sync", 0): {"attempts": [{"task": "sync", "partition": 0, "state": "succeeded", "bytes": 1}]},
        task("warmup", 0): {"attempts": [{"task": "warmup", "partition": 0, "state": "waiting"}]},
    },
    "SampleJob": {task("rmr", 0): {"attempts": [{"task": "rmr", "partition": 0, "state": "succeeded"}]}},
    "DataCube": {TRANSFER: {"progress": "42%", "revision": "abc", "attempt": {"run": "x", "bytes": 1}}},
}
"""What agents apply beside the reporter, by kind and field manager."""


def test_nobody_owns_a_field_of_another(site: Site) -> None:
    site.apply(SPECS)
    with site.reporter():
        for kind, managers in AGENTS.items():
            (resource,) = site.made(kind)
            least = {key: resource[key] for key in ("apiVersion", "kind")}
            least["metadata"] = {key: resource["metadata"][key] for key in ("name", "namespace")}
            for manager, status in managers.items():
                site.cluster.admin.apply(
                    {**least, "status": status}, manager=manager, force=False, subresource="status"
                )
        for kind in AGENTS:
            name = site.made(kind)[0]["metadata"]["name"]
            wait_for(lambda kind=kind, name=name: site.status(kind, name).get("observedGeneration"))  # type: ignore[misc]
        time.sleep(2)
        for kind, managers in AGENTS.items():
            live = site.cluster.admin.get(site.made(kind)[0])
            entries = {
                each["manager"]: set(leaves(each["fieldsV1"]))
                for each in live["metadata"]["managedFields"]
                if each.get("subresource") == "status"
            }
            assert set(entries) == {REPORTER, *managers}
            everything = [leaf for found in entries.values() for leaf in found if not leaf[-1].startswith("k:")]
            assert len(everything) == len(set(everything))
            own = {path[1].removeprefix("f:") for path in entries[REPORTER]}
            assert own <= registry.RULES[kind].FIELDS


def test_rights_are_for_status_alone(site: Site) -> None:
    site.apply([paddle_job("job")])
    client = site.cluster.client_for_service_account(site.namespace, "stowplan-reporter")
    (job,), (resource,) = site.made("Job"), site.made("PaddleJob")
    wait_for(lambda: _may(lambda: client.get(resource)), what="the binding")
    forbidden = [
        lambda: client.patch(resource, {"metadata": {"labels": {"a": "b"}}}),
        lambda: client.patch(job, {"spec": {"suspend": True}}),
        lambda: client.patch(job, {"status": {}}, subresource="status"),
        lambda: client.delete(resource),
        lambda: client.list("v1", "Secret", site.namespace),
        lambda: client.list("v1", "Node"),
        lambda: client.list("batch/v1", "Job"),
    ]
    assert not any(_may(each) for each in forbidden)


def _may(call: Any) -> bool:
    try:
        call()
    except ApiError as error:
        if error.status == 403:
            return False
        raise
    return True


def test_a_thousand_resources_fit_into_its_memory(site: Site) -> None:
    """With a Job and a pod each, as large as compiled ones are; each kind is listed once, and events once by reason."""
    site.apply([data_cube("cube")])
    (resource,), (job,) = site.made("DataCube"), site.made("Job")
    for number in range(1000):
        for each in _copies(site, resource, job, f"cube-{number}"):
            site.cluster.admin.create(each)
    with site.reporter() as reporter:
        path = site.cluster.admin.collection(resource)
        wait_for(lambda: _all_told(site.cluster.admin.request("GET", path)["items"]), 180, what="reports on all")
        events = [each for each in reporter.events() if each["message"] == "Listed"]
        listed = [(each["collection"], each.get("fieldSelector")) for each in events]
        assert len(listed) == len(set(listed)) == 16
        memory = reporter.memory() / 2**20
        print(f"peak memory with 1000 resources: {memory:.0f} MiB")  # noqa: T201
        assert memory < 100


def _copies(site: Site, resource: Manifest, job: Manifest, name: str) -> Iterator[Manifest]:
    """A custom resource of that name, its Job, and a pod that never starts."""
    own, run = {**resource["metadata"]["labels"], "stowplan.dev/name": name}, f"{name}-batchjob-abcdefgh"
    place = {"namespace": site.namespace, "labels": own}
    yield {**resource, "metadata": {"name": name, **place}}
    yield {**job, "metadata": {"name": run, **place}, "spec": {**job["spec"], "suspend": True}}
    template = job["spec"]["template"]
    labels = {**template["metadata"]["labels"], **own, "batch.kubernetes.io/job-name": run}
    held = {"schedulingGates": [{"name": "stowplan.dev/never"}], "serviceAccountName": "default"}
    metadata = {"name": f"{run}-xyzab", **place, "labels": labels}
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**template["spec"], **held}}


def _all_told(items: list[Manifest]) -> bool:
    return len(items) > 1000 and all((each.get("status") or {}).get("observedGeneration") for each in items)
