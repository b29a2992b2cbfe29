"""The quick start of the old operator, step by step: compiled, applied, and run by controllers, nodes and agents.

The cloud is replaced locally: a bucket, a Redis, and a node that mounts JuiceFS and runs the images of the agents. The
specs are those of the example; only the address of the bucket differs, and it is not public.
"""

import base64
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from stowplan.library.values.labels import COMPONENT
from tests.agents.await_process import consistently
from tests.agents.cache import redis_server
from tests.agents.cache.redis_server import PASSWORD, Redis
from tests.agents.cache.volume import NAME, Store, sweep, why_not
from tests.agents.image_builder import Builder, image_builder
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage, new_bucket, serving
from tests.cluster import nodes
from tests.cluster.binaries import Missing, obtain
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.markdown import Markdown
from tests.cluster.podman_node import PodmanNode
from tests.cluster.quick_start import (
    DATASET,
    DEMO,
    NAMESPACE,
    SOURCE_SECRET,
    WHOLE,
    QuickStart,
    example_specs,
    reading,
    samples,
    training,
)
from tests.cluster.tools import VERSITYGW
from tests.repositories import CORPUS, EXAMPLES


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    if reason := why_not():
        pytest.skip(reason)
    with image_builder(tmp_path_factory.mktemp("images")) as made:
        for target in ("cache", "control"):
            made.image(target)
        made.podman.run("rm", "--all", "--force", "--time=0")
        sweep(tmp_path_factory.getbasetemp())
        yield made


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    found = redis_server.program()
    if found is None:
        pytest.skip("no redis-server on this machine")
    with redis_server.running(tmp_path / "redis", found) as server:
        yield server


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[Storage]:
    found = obtain(VERSITYGW)
    if isinstance(found, Missing):
        pytest.skip(str(found))
    (tmp_path / "s3").mkdir()
    with serving(found.paths["versitygw"], tmp_path / "s3") as url:
        storage = new_bucket(url)
        storage.put(samples(DEMO, "imagenet/demo/") | samples(WHOLE, "imagenet/"))
        yield storage


@pytest.fixture
def store(request: pytest.FixtureRequest, redis: Redis, bucket: Storage) -> Store:
    """Where the volume keeps its blocks: in Redis, as the guide has it, if nothing else is asked for."""
    if getattr(request, "param", "redis") == "redis":
        return Store("redis", redis.url(1), secret_key=PASSWORD)
    blocks = new_bucket(bucket.endpoint)
    return Store("minio", f"{blocks.endpoint}/{blocks.bucket}", ACCESS_KEY, SECRET_KEY)


@pytest.fixture
def node(cluster: Cluster, served: dict[str, Manifest], builder: Builder, tmp_path: Path) -> Iterator[PodmanNode]:
    """The only node that takes pods."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
        stack.enter_context(nodes.cordoned(cluster.admin))
        folder = tmp_path / "node"
        folder.mkdir()
        made = PodmanNode(cluster, builder, "disk-0", folder, root, in_a_hurry)
        yield stack.enter_context(made.running())


def in_a_hurry(text: str) -> str:
    """A configuration whose agent measures every second."""
    return text.replace('"intervalSeconds": 30', '"intervalSeconds": 1')


@pytest.fixture
def secrets(redis: Redis, store: Store) -> dict[str, dict[str, str]]:
    """The Secrets of the volume and of the bucket, by name."""
    volume = {
        "name": NAME,
        "metaurl": redis.url(0).replace("redis://", f"redis://:{PASSWORD}@"),
        "storage": store.storage,
        "bucket": store.bucket,
        "access-key": store.access_key,
        "secret-key": store.secret_key,
    }
    return {DATASET: volume, SOURCE_SECRET: {"access-key": ACCESS_KEY, "secret-key": SECRET_KEY}}


@pytest.fixture
def start(
    cluster: Cluster, node: PodmanNode, bucket: Storage, secrets: dict[str, dict[str, str]], tmp_path: Path
) -> Iterator[QuickStart]:
    """The namespace with its Secrets, and a repository with the platform of the example."""
    repo = tmp_path / "repo"
    repo.mkdir()
    platform = yaml.safe_load((EXAMPLES[DATASET] / "stowplan.yaml").read_text(encoding="utf-8"))
    cluster.namespace(NAMESPACE, "baseline")
    for name, values in secrets.items():
        data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items() if value}
        cluster.admin.apply({**ref("v1", "Secret", name, NAMESPACE), "data": data})
    host = bucket.endpoint.partition("://")[2]
    try:
        yield QuickStart(cluster, node, repo, f"minio://{host}/{bucket.bucket}/", platform)
    finally:
        for each in (
            ref("v1", "Namespace", NAMESPACE),
            ref("v1", "PersistentVolume", f"{NAMESPACE}.{DATASET}"),
        ):
            _remove(cluster, each)


def _remove(cluster: Cluster, manifest: Manifest) -> None:
    if cluster.admin.find(manifest):
        cluster.admin.delete(manifest)
        wait_for(lambda: cluster.admin.find(manifest) is None, 180, what=f"end of {manifest['kind']}")


@pytest.mark.skipif(not CORPUS, reason="no ../shared/corpus")
def test_example_is_that_of_the_guide() -> None:
    """But for the tasks that are committed before it is their time."""
    documents = [yaml.safe_load(text) for text in CORPUS.values()]
    guide = {each["metadata"]["name"]: each for each in documents if each["metadata"].get("namespace") == NAMESPACE}
    for name, document in example_specs().items():
        document["spec"].pop("terminate", None)
        assert document["spec"] == guide[name]["spec"]
    assert training() == guide["ps-demo"]
    assert reading()["spec"]["ps"] == guide["ps-demo"]["spec"]["ps"]


@pytest.mark.parametrize("store", ["redis", "s3"], indirect=True)
def test_quick_start(start: QuickStart, snapshot: SnapshotAssertion) -> None:
    """The steps of the guide. What a sync brings is in the cache once the warmup after it is done."""
    specs = start.specs()
    start.commit(specs[DATASET])
    start.await_cache(sum(DEMO.values()), cached="all")
    start.await_phase("SampleSet", DATASET, "Ready")
    start.tell("SampleSet", DATASET)

    # It is in the example as one that does not run yet.
    rmr = specs["imagenet-rmr"]
    start.commit(rmr)
    start.await_phase("SampleJob", rmr["metadata"]["name"], "Pending")
    assert start.pods(rmr["metadata"]["name"]) == []
    start.run(rmr)
    start.await_cache(DEMO["n01440764"], cached="all")
    start.tell("SampleJob rmr", "imagenet-rmr")

    start.run(specs["imagenet-sync"])
    everything = sum(DEMO.values()) + sum(WHOLE.values())
    start.await_cache(everything, cached="all")
    start.await_condition("SampleJob", "imagenet-sync", "Warmed", "True")
    start.tell("SampleJob sync", "imagenet-sync")

    start.run(specs["imagenet-clear"])
    start.await_cache(everything, cached="none")
    start.tell("SampleJob clear", "imagenet-clear")

    start.run(specs["imagenet-warmup"])
    start.await_cache(everything, cached="all")
    start.tell("SampleJob warmup", "imagenet-warmup")

    start.commit(reading())
    start.await_phase("PaddleJob", "ps-demo", "Completed")
    start.tell("PaddleJob, its worker", "ps-demo", "worker")
    (pod,) = start.pods("ps-demo", "worker")
    seen = json.loads(start.node.log(pod["metadata"]["name"], "sample"))
    assert seen == {name: hashlib.sha256(data).hexdigest() for name, data in samples(WHOLE).items()}
    assert start.transcript() == snapshot(extension_class=Markdown)


def test_warmup_of_the_guide_ends_well_though_the_dataset_is_larger_than_the_cache(
    start: QuickStart, bucket: Storage
) -> None:
    start.platform["juicefs"] = {"cacheSize": 40}
    bucket.put({f"imagenet/demo/large/{number}.JPEG": os.urandom(4 << 20) for number in range(16)})
    specs = start.specs()
    start.commit(specs[DATASET])
    start.await_phase("SampleSet", DATASET, "Ready")
    start.await_condition("SampleSet", DATASET, "CacheTooSmall", "True")
    start.run(specs["imagenet-warmup"])
    assert "would do, with as much disk or memory" in start.complaint("imagenet-warmup")
    assert len(start.pods("imagenet-warmup")) == 1


def test_training_of_the_guide_runs_on(start: QuickStart) -> None:
    """Its server and its worker are web servers, which never listen where await looks, and never end."""
    start.platform["engines"] = {"helperTimeoutSeconds": 1}
    dataset = start.specs()[DATASET]
    dataset["spec"]["noSync"] = True
    start.commit(dataset)
    start.await_phase("SampleSet", DATASET, "Ready")
    start.commit(training())
    start.await_phase("PaddleJob", "ps-demo", "Running")
    assert consistently(lambda: start.status("PaddleJob", "ps-demo")["phase"] == "Running", 15)
    (job,) = start.cluster.admin.list(
        "batch/v1", "Job", NAMESPACE, "stowplan.dev/name=ps-demo,app.kubernetes.io/component=worker"
    )
    assert "activeDeadlineSeconds" not in job["spec"]


def test_scheduled_runs(start: QuickStart, bucket: Storage) -> None:
    """Each brings what is new; their Jobs are made as `kubectl create job --from` does."""
    specs = start.specs()
    start.commit(specs[DATASET])
    start.await_cache(sum(DEMO.values()), cached="all")
    job = specs["imagenet-sync"]
    job["spec"] |= {"schedule": "0 3 1 1 *", "syncOptions": {"source": specs[DATASET]["spec"]["source"]["uri"]}}
    start.commit(job)
    for number in range(2):
        bucket.put(samples({f"late-{number}": 1}, "imagenet/demo/"))
        start.begin_scheduled("imagenet-sync", f"manual-{number}")
        start.await_cache(sum(DEMO.values()) + number + 1, cached="some")
        start.await_codes("imagenet-sync", ", ".join(["sync 0"] * (number + 1)))


def test_a_task_that_is_terminated(start: QuickStart) -> None:
    """It ends at once with what it has done, and goes on from there when that is taken back."""
    specs = start.specs()
    dataset, job = specs[DATASET], specs["imagenet-sync"]
    dataset["spec"]["noSync"] = True
    job["spec"]["syncOptions"]["bwlimit"] = 2
    start.commit(dataset, job)
    start.await_phase("SampleSet", DATASET, "Ready")
    volume = start.node.mount(NAMESPACE, DATASET)
    wait_for(lambda: any(volume.rglob("*.JPEG")), what="a first sample")
    start.await_phase("SampleJob", "imagenet-sync", "Running")
    job["spec"]["terminate"] = True
    start.commit(job)
    wait_for(lambda: not start.pods("imagenet-sync"), 120, what="end of the task")
    start.await_phase("SampleJob", "imagenet-sync", "Pending")
    everything = sum(DEMO.values()) + sum(WHOLE.values())
    assert 0 < len(list(volume.rglob("*.JPEG"))) < everything
    start.run(job)
    start.await_cache(everything, cached="all")
    (pod,) = [pod for pod in start.pods("imagenet-sync") if pod["metadata"]["labels"][COMPONENT] == "sync"]
    last = json.loads(start.node.log(pod["metadata"]["name"], "sync").splitlines()[-1])
    assert 0 < last["filesUnchanged"] < last["filesDone"] == everything


def test_volume_of_root(start: QuickStart) -> None:
    """What the old runtime filled: tasks say which setting helps, and with it they do their work."""
    specs = start.specs()
    dataset = specs[DATASET]
    dataset["spec"] |= {"noSync": True}
    start.commit(dataset)
    start.await_phase("SampleSet", DATASET, "Ready")
    root = start.node.mount(NAMESPACE, DATASET)
    for name, data in samples(DEMO).items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    root.chmod(0o755)
    jobs = [specs[name] for name in ("imagenet-sync", "imagenet-rmr")]
    for job in jobs:
        job["spec"]["terminate"] = False
        name = job["metadata"]["name"]
        start.commit(job)
        start.await_phase("SampleJob", name, "Failed")
        assert f"{job['spec']['type']} 3" in start.codes(name)
        assert "taskUser" in start.complaint(name), start.status("SampleJob", name)
    start.platform["juicefs"] = {"taskUser": 0}
    for job in jobs:
        job["metadata"]["annotations"] = {"stowplan.dev/run": "as root"}
        start.run(job)
    start.await_cache(sum(DEMO.values()) + sum(WHOLE.values()) - WHOLE["n01514859"], cached="any")
