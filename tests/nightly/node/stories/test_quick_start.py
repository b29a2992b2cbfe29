"""The quick start of the old operator's guide, through Git and Argo CD, on nodes that are real.

The specs are those of the guide and the example but for the bucket's address, the job's command, which reads the
samples and ends, and its image: a Python from Debian's packages. Redis and the S3 server run beside the nodes.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.agents.await_process import consistently
from tests.cluster.client import Manifest, ref, wait_for
from tests.nightly.node import images, stores
from tests.nightly.node.delivery import SECONDS, Delivery, delivering, needed, secret
from tests.nightly.node.markdown import Markdown
from tests.nightly.node.place import Place
from tests.nightly.node.stores import Stores
from tests.nightly.node.stories.guide import (
    DATASET,
    DEMO,
    GROUP,
    NAMESPACE,
    SOURCE_SECRET,
    WHOLE,
    example_specs,
    reading,
    samples,
    training,
)
from tests.repositories import EXAMPLES

DRIVER = "csi.juicefs.com"


@pytest.fixture(scope="module")
def servers(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """The bucket with the samples; a Secret for it is in the cluster, and one for each volume."""
    with stores.running(tmp_path_factory.mktemp("stores")) as made:
        made.bucket.put(samples(DEMO, "imagenet/demo/") | samples(WHOLE, "imagenet/"))
        place.cluster.namespace(NAMESPACE, "baseline")
        secrets = {SOURCE_SECRET: stores.KEYS}
        names = (DATASET, "small", "scheduled", "terminated", "rooted")
        secrets |= {name: made.volume(number) for number, name in enumerate(names)}
        for name, values in secrets.items():
            place.cluster.admin.apply(secret(NAMESPACE, name, values))
        yield made


@pytest.fixture(scope="module")
def delivery(place: Place, servers: Stores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    """The platform of the example; its agents' images are on the nodes."""
    programs = needed()
    folder = tmp_path_factory.mktemp("delivery")
    images.load(place, images.names(platform()), folder / "images")
    place.start_csi(DRIVER)
    with delivering(place, programs, platform(), folder / "argocd") as made:
        yield made


def platform() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((EXAMPLES[DATASET] / "stowplan.yaml").read_text(encoding="utf-8"))
    return found


def sample_set(servers: Stores, name: str, source: str, **fields: Any) -> Manifest:
    """Another dataset than that of the guide, in a volume of its own."""
    uri = {"uri": f"{servers.url}{source}", "secretRef": {"name": SOURCE_SECRET}}
    spec = {"partitions": 1, "source": uri, "secretRef": {"name": name}, **fields}
    return {**ref(GROUP, "SampleSet", name, NAMESPACE), "spec": spec}


def sample_job(dataset: Manifest, kind: str, **fields: Any) -> Manifest:
    name = dataset["metadata"]["name"]
    spec = {"type": kind, "sampleSetRef": {"name": name}, **fields}
    return {**ref(GROUP, "SampleJob", f"{name}-{kind}", NAMESPACE), "spec": spec}


def sync_of_all(servers: Stores, dataset: Manifest, **options: Any) -> Manifest:
    """A task that copies what the guide has."""
    source = {"source": f"{servers.url}imagenet", **options}
    return sample_job(dataset, "sync", secretRef={"name": SOURCE_SECRET}, syncOptions=source)


def files(delivery: Delivery, dataset: Manifest) -> set[str]:
    """The samples in a volume, as the nodes see it that have mounted it, without what JuiceFS keeps after a removal."""
    roots = [mounted(delivery, dataset, number) for number in range(len(delivery.place.nodes))]
    found = {path.relative_to(root).as_posix() for root in roots for path in root.rglob("*.JPEG")}
    return {each for each in found if not each.startswith(".trash/")}


def mounted(delivery: Delivery, dataset: Manifest, number: int) -> Path:
    """Where a node mounts a volume."""
    name = dataset["metadata"]["name"]
    return delivery.place.nodes[number].seen(f"/var/lib/juicefs/{NAMESPACE}.{name}")


def _has(delivery: Delivery, dataset: Manifest, names: set[str]) -> bool:
    return names <= files(delivery, dataset)


def cache(delivery: Delivery, dataset: Manifest) -> dict[str, str]:
    """What the cache pods have measured."""
    found: dict[str, str] = delivery.live(dataset).get("status", {}).get("cacheStatus") or {}
    return found


def complaint(delivery: Delivery, spec: Manifest) -> str:
    """What the conditions of a spec say."""
    return " ".join(each.get("message", "") for each in delivery.live(spec)["status"]["conditions"])


@pytest.mark.timeout(1800)  # a story of many steps
def test_quick_start(delivery: Delivery, servers: Stores, snapshot: SnapshotAssertion) -> None:
    specs = example_specs(servers.url)
    dataset, sync, warmup = specs[DATASET], specs["imagenet-sync"], specs["imagenet-warmup"]
    removal, clear = specs["imagenet-rmr"], specs["imagenet-clear"]
    dataset["spec"]["source"]["secretRef"] = sync["spec"]["secretRef"] = {"name": SOURCE_SECRET}

    delivery.commit(dataset)
    delivery.reaches(dataset, phase="Ready", Warmed="Succeeded")
    delivery.tell("The dataset is ready")
    assert files(delivery, dataset) == set(samples(DEMO))

    removal["spec"]["terminate"] = False
    delivery.commit(removal)
    delivery.reaches(removal, phase="Succeeded")
    delivery.tell("One class was removed")
    assert files(delivery, dataset) == set(samples({"n01440764": DEMO["n01440764"]}))

    delivery.commit(sync, warmup)
    delivery.reaches(warmup, phase="Succeeded")
    delivery.tell("More was copied, and is in the cache")

    job = reading()
    helper = job["spec"]["ps"]["template"]["spec"]["containers"][0]
    helper |= {"image": images.PYTHON, "command": ["python3", "-m", "http.server", "36000"]}
    delivery.commit(job)
    delivery.reaches(job, phase="Completed")
    delivery.tell("The training has read all samples")
    (worker,) = delivery.pods("stowplan.dev/name=ps-demo,stowplan.dev/role=worker")
    log = delivery.place.kubectl("logs", f"--namespace={NAMESPACE}", worker["metadata"]["name"], "--container=sample")
    assert json.loads(log) == {name: hashlib.sha256(data).hexdigest() for name, data in samples(WHOLE).items()}

    dataset["spec"]["partitions"] = 2
    delivery.commit(dataset)
    scaled = {"readyReplicas": 2, "runtimeReady": "2/2", "specReplicas": 2}
    delivery.reaches(dataset, phase="Ready", runtimeStatus=scaled)
    delivery.tell("The dataset is cached on both nodes")
    caches = delivery.pods("stowplan.dev/name=imagenet,app.kubernetes.io/component=runtime")
    assert {each["spec"]["nodeName"] for each in caches} == {each.name for each in delivery.place.nodes}

    clear["spec"]["terminate"] = False
    delivery.commit(clear)
    delivery.reaches(clear, phase="Succeeded")
    wait_for(lambda: cache(delivery, dataset).get("cachedSize") == "0 B", SECONDS, what="empty caches")
    delivery.tell("The caches are empty")
    assert "\n".join(delivery.steps) == snapshot(extension_class=Markdown)


def test_warmup_ends_well_though_the_dataset_is_larger_than_the_cache(delivery: Delivery, servers: Stores) -> None:
    servers.bucket.put({f"large/{number}.JPEG": os.urandom(4 << 20) for number in range(16)})
    levels = {"levels": [{"path": "/var/lib/juicefs-cache/small", "cacheSize": 40}]}
    dataset = sample_set(servers, "small", "large", cache=levels)
    delivery.commit(dataset)
    delivery.reaches(dataset, phase="Ready", CacheTooSmall="CacheTooSmall")
    warmup = sample_job(dataset, "warmup")
    delivery.commit(warmup)
    delivery.reaches(warmup, phase="Succeeded", CacheTooSmall="CacheTooSmall")
    assert "would do, with as much disk or memory" in complaint(delivery, warmup)
    assert len(delivery.pods("stowplan.dev/name=small-warmup")) == 1


def test_scheduled_runs(delivery: Delivery, servers: Stores) -> None:
    """Each brings what is new; `kubectl create job --from` makes them."""
    dataset = sample_set(servers, "scheduled", "late")
    servers.bucket.put(samples({"first": 1}, "late/"))
    options = {"source": f"{servers.url}late"}
    task = sample_job(dataset, "sync", schedule="0 3 1 1 *", secretRef={"name": SOURCE_SECRET}, syncOptions=options)
    delivery.commit(dataset, task)
    delivery.reaches(dataset, phase="Ready")
    crons = delivery.place.cluster.admin.list("batch/v1", "CronJob", NAMESPACE, "stowplan.dev/name=scheduled-sync")
    (cron,) = (each["metadata"]["name"] for each in crons if "warmup" not in each["metadata"]["name"])
    for number in range(2):
        new = samples({f"late-{number}": 1})
        servers.bucket.put({f"late/{name}": data for name, data in new.items()})
        delivery.place.kubectl("create", "job", f"--namespace={NAMESPACE}", f"--from=cronjob/{cron}", f"run-{number}")
        wait_for(partial(_has, delivery, dataset, set(new)), SECONDS, what="the new sample")
    delivery.reaches(task, phase="Succeeded")


def test_a_task_that_is_terminated(delivery: Delivery, servers: Stores) -> None:
    """It ends at once with what it has done, and goes on from there when that is taken back."""
    dataset = sample_set(servers, "terminated", "imagenet/demo", noSync=True)
    task = sync_of_all(servers, dataset, bwlimit=2)
    delivery.commit(dataset, task)
    wait_for(lambda: files(delivery, dataset), SECONDS, what="a first sample")
    delivery.reaches(task, phase="Running")
    task["spec"]["terminate"] = True
    delivery.commit(task)
    wait_for(lambda: not delivery.pods("stowplan.dev/name=terminated-sync"), SECONDS, what="end of the task")
    delivery.reaches(task, phase="Pending")
    everything = set(samples(DEMO, "demo/")) | set(samples(WHOLE))
    assert set() < files(delivery, dataset) < everything
    task["spec"]["terminate"] = False
    delivery.commit(task)
    delivery.reaches(task, phase="Succeeded")
    assert files(delivery, dataset) == everything
    ended = [each for each in delivery.live(task)["status"]["attempts"] if each["state"] == "succeeded"]
    assert "were there" in " ".join(each["message"] for each in ended if each["task"] == "sync")


def test_training_of_the_guide_runs_on(delivery: Delivery) -> None:
    """Its server and its worker are web servers, which never listen where await looks, and never end.

    Their image is Python's, since nothing is pulled here.
    """
    job = training()
    job["metadata"]["name"] = "guide"
    for role in ("ps", "worker"):
        (container,) = job["spec"][role]["template"]["spec"]["containers"]
        container |= {"image": images.PYTHON, "command": ["python3", "-m", "http.server", "8080"]}
    delivery.commit(job)
    delivery.reaches(job, phase="Running")
    assert consistently(lambda: delivery.live(job)["status"]["phase"] == "Running", 15)
    labels = "stowplan.dev/name=guide,app.kubernetes.io/component=worker"
    (worker,) = delivery.place.cluster.admin.list("batch/v1", "Job", NAMESPACE, labels)
    assert "activeDeadlineSeconds" not in worker["spec"]


def test_volume_of_root(delivery: Delivery, servers: Stores) -> None:
    """What the old runtime filled: tasks say which setting helps, and with it they do their work."""
    dataset = sample_set(servers, "rooted", "imagenet/demo", noSync=True)
    delivery.commit(dataset)
    delivery.reaches(dataset, phase="Ready")
    (cached,) = delivery.pods("stowplan.dev/name=rooted,app.kubernetes.io/component=runtime")
    number = [each.name for each in delivery.place.nodes].index(cached["spec"]["nodeName"])
    root = mounted(delivery, dataset, number)
    for name, data in samples(DEMO).items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    root.chmod(0o755)
    tasks = (sync_of_all(servers, dataset), sample_job(dataset, "rmr", rmrOptions={"paths": ["n01514859"]}))
    for task in tasks:
        delivery.commit(task)
        delivery.reaches(task, phase="Failed")
        assert "taskUser" in complaint(delivery, task)
    delivery.platform["juicefs"] = {"taskUser": 0}
    for task in tasks:
        task["metadata"]["annotations"] = {"stowplan.dev/run": "as root"}
        delivery.commit(task)
        delivery.reaches(task, phase="Succeeded")
    everything = samples(DEMO, "demo/") | samples(WHOLE)
    assert files(delivery, dataset) == {name for name in everything if not name.startswith("n01514859")}
