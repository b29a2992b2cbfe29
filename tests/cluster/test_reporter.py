"""The reporter on a real API server with real controllers, and only the rights of its compiled Role."""

import asyncio
import itertools
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import collection
from stowplan.agents.reporter.objects import resources
from stowplan.agents.reporter.objects.cache import ObjectCache
from stowplan.agents.reporter.rules import registry
from stowplan.agents.reporter.watching import Watching
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.field_managers import CACHE_SUM, REPORTER, TRANSFER, cache, task
from tests.absent import skip
from tests.agents.relay import relay
from tests.cluster import sync
from tests.cluster.client import ApiError, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.ownership import leaves
from tests.cluster.reporters import EXIT_CODE, HOLD, Site, data_cube, paddle_job
from tests.tier import KILLS

NEEDED = registry.RULES["PaddleJob"].observed
NUMBERS = itertools.count()
LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)


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


def failed(reason: str, code: int) -> Manifest:
    """The status of a pod whose container has ended."""
    ended = {"exitCode": code, "reason": reason, "finishedAt": "2026-01-01T00:00:00Z"}
    container = {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0}
    return {"phase": "Failed", "containerStatuses": [{**container, "state": {"terminated": ended}}]}


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
        wait_for(lambda: len(site.pods("job")) == 2, what="the end of the pods of before")
        # The reporter hears of this after the deletion, and tells it of the present run.
        site.end("job")
        assert site.until("PaddleJob", "job", phase="Completed")["run"] == after["run"]


def test_objects_that_are_removed_and_made_again(site: Site) -> None:
    """What was told of a Job goes from the status, and the rest can still be written; then the resource is another."""
    site.apply([paddle_job("job", workers=2)])
    admin, (job,), (resource,) = site.cluster.admin, site.made("Job"), site.made("PaddleJob")
    with site.reporter():
        site.until("PaddleJob", "job", phase="Running")
        admin.delete(job)
        status = site.until("PaddleJob", "job", phase="Pending", Complete="NotStarted")
        assert not set(status) & {"worker", "run", "startTime"}
        admin.apply(job)
        site.until("PaddleJob", "job", phase="Running")
        admin.delete(resource)
        admin.apply(resource)
        site.until("PaddleJob", "job", phase="Running", observedGeneration=1)


def test_server_that_goes_away_and_comes_back(site: Site) -> None:
    site.apply([paddle_job("job")])
    with relay(site.cluster.trust.server) as way, site.reporter(server=way.url) as reporter:
        site.until("PaddleJob", "job", phase="Running")
        listed = reporter.said("Listed")
        way.stop()
        site.end("job")
        wait_for(lambda: site.cluster.admin.get(site.made("Job")[0])["status"].get("completionTime"))
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
    read = partial(resources.resource, namespace=site.namespace, kind="PaddleJob", needed=NEEDED)
    known = ObjectCache(read, lambda _: None)

    async def story() -> None:
        async with Client(access, "test") as client:
            # The server has versions of a custom kind from the moment on at which its CRD was made.
            watching = asyncio.create_task(
                Watching(client, collection("PaddleJob", site.namespace), known, Log()).run("1")
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


@pytest.mark.parametrize("anew", [False, True])
def test_report_on_another_version_or_object_is_refused(site: Site, *, anew: bool) -> None:
    """What was judged by an older state never takes the place of what was judged by a newer one."""
    site.apply([paddle_job("job")])
    admin, (made,) = site.cluster.admin, site.made("PaddleJob")
    live = admin.get(made)
    seen = resources.resource(live, site.namespace, "PaddleJob", NEEDED)
    assert seen is not None
    if anew:
        admin.delete(made)
        admin.apply(made)
    else:
        admin.patch(made, {"status": {"phase": "Running"}}, subresource="status")
    with pytest.raises(ApiError) as error:
        admin.apply(resources.with_status(seen, {"phase": "Pending"}), manager=REPORTER, subresource="status")
    assert error.value.status == 409


def test_two_do_no_harm(site: Site) -> None:
    """After the end of a job neither takes back what the other wrote, while both follow other jobs to their ends."""
    jobs = ("job", "first", "second")
    site.apply([paddle_job(name) for name in jobs])
    job = next(each for each in site.made("PaddleJob") if each["metadata"]["name"] == "job")
    with site.reporter("one"), site.reporter("two"):
        versions = []
        for name in jobs:
            site.until("PaddleJob", name, phase="Running")
            site.end(name)
            site.until("PaddleJob", name, phase="Completed")
            versions.append(site.cluster.admin.get(job)["metadata"]["resourceVersion"])
        # When the first of the others has ended, both have told all that there is to tell of the job.
        assert versions[1] == versions[2]


@pytest.mark.parametrize("offset", ["+3h", "-4m"])
def test_clock_that_is_wrong(site: Site, offset: str) -> None:
    """That of the reporter's node: all times are those of the objects. Further back, no certificate would be valid."""
    library = next((path for path in LIBRARIES if Path(path).exists()), None)
    if library is None:
        skip("no libfaketime on this machine (Debian: libfaketime)")
    skewed = {"LD_PRELOAD": library, "FAKETIME": offset, "DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"}
    site.apply([paddle_job("job")])
    (job,), (resource,) = site.made("Job"), site.made("PaddleJob")
    with site.reporter(**skewed) as reporter:
        site.until("PaddleJob", "job", phase="Running")
        site.end("job")
        status = site.until("PaddleJob", "job", phase="Completed", Complete="Succeeded")
        own = datetime.fromisoformat(reporter.events()[-1]["time"])
    live = site.cluster.admin.get(resource)
    said = site.cluster.admin.get(job)["status"]["completionTime"]
    assert live["metadata"]["creationTimestamp"] <= status["startTime"] <= said == status["completionTime"]
    assert abs((datetime.now(UTC) - own).total_seconds()) > 200


def test_reporter_that_is_killed_at_any_moment(site: Site) -> None:
    """As the kubelet, start it again each time; the end is the same as without."""
    site.apply([paddle_job("job", workers=2)])
    chance, begun = random.Random(7), time.monotonic()  # noqa: S311 - no secret
    with site.reporter("first"):
        usual = time.monotonic() - begun
        started = site.until("PaddleJob", "job", phase="Running")["startTime"]
    for number in range(KILLS):
        killed = site.start(f"killed-{number}")
        time.sleep(chance.uniform(0, 1.5 * usual))
        killed.kill()
        status = site.status("PaddleJob", "job")
        # Under load it may be killed each time before it can tell of the end.
        assert status["phase"] in {"Running", "Completed"}
        assert status["startTime"] == started
        if number == KILLS // 2:
            site.end("job")
    with site.reporter("last"):
        status = site.until("PaddleJob", "job", phase="Completed", Complete="Succeeded")
    assert status["startTime"] == started


def test_trainer_of_a_fault_tolerant_job_that_is_killed(site: Site) -> None:
    """The Job starts another one, and leaves the others alone."""
    site.cluster.namespace(site.namespace, "baseline")
    role = {"min-instance": 2, "max-instance": 2, "entrypoint": "train"}
    spec = {"image": "local/none:1", "fault_tolerant": True, "trainer": role, "pserver": role}
    made = site.compile_held([{**ref("paddlepaddle.org/v1alpha1", "TrainingJob", "job"), "spec": spec}])
    site.manifests = sync.apply(site.cluster.admin, made)

    def trainers_now() -> list[Manifest]:
        return [each for each in site.pods("job") if each["metadata"]["labels"]["stowplan.dev/role"] == "trainer"]

    with site.reporter():
        site.until("TrainingJob", "job", phase="Running", trainers="2/2")
        killed, other = trainers_now()
        site.cluster.admin.patch(killed, {"metadata": {"annotations": {HOLD: None, EXIT_CODE: "137"}}})
        wait_for(lambda: len(trainers_now()) == 3, what="another trainer")
        site.until("TrainingJob", "job", phase="Running", trainers="2/2")
        assert site.cluster.admin.get(other)["status"]["phase"] == "Running"


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
    site.apply([*SPECS, paddle_job("later")])
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
        # The reporter hears of this after it has heard of what the agents applied.
        site.end("later")
        site.until("PaddleJob", "later", phase="Completed")
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
            assert own <= registry.RULES[kind].fields


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
