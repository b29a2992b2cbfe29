"""Agents that are killed, and a store that is gone: the work goes on where it was, and nothing is lost."""

import time
from collections.abc import Iterator

import pytest

from stowplan.schema.agents.await_config import HELPER_PREFIX
from tests.cluster.client import ref, wait_for
from tests.node import faulty, images, stores
from tests.node.copied import FILES, STOWPLAN, dataset
from tests.node.delivery import Delivery, secret
from tests.node.faulty import NAMESPACE, SECONDS, job, tells
from tests.node.harm import slow_network, strike
from tests.node.place import Place
from tests.node.stores import Stores

GONE = 120
"""Seconds without a store."""
RATE = "100mbit"
"""Slow enough for a fault in the middle of a copy."""


@pytest.fixture(scope="module")
def delivery(with_argocd: None, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    with faulty.delivering(place, tmp_path_factory.mktemp("delivery"), ("cache", "control", "transfer")) as made:
        yield made


@pytest.fixture(scope="module")
def servers(with_argocd: None, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A bucket, and what a volume stands on."""
    with stores.running(tmp_path_factory.mktemp("stores")) as made:
        yield made


def give_keys(delivery: Delivery, name: str) -> None:
    delivery.place.cluster.admin.create(secret(NAMESPACE, name, stores.KEYS))


def restarts(delivery: Delivery, labels: str) -> int:
    """How often the containers of pods were started again."""
    states = [each for pod in delivery.pods(labels) for each in pod["status"].get("containerStatuses", ())]
    return sum(int(each["restartCount"]) for each in states)


def test_reporter_that_is_killed(delivery: Delivery) -> None:
    spec = job("reported", "import time; time.sleep(5)")
    delivery.commit(spec)
    strike(delivery.place.nodes, "stowplan.agents.reporter")
    tells(delivery, spec, "Healthy", phase="Completed")


def test_gate_that_is_killed(delivery: Delivery, servers: Stores) -> None:
    """It opens the run once the dataset is ready, which waits for its Secret."""
    data = dataset(delivery.place, servers.bucket, "late", 10)
    run = {
        **ref(STOWPLAN, "Training", "gated", NAMESPACE),
        "spec": {
            "framework": "none",
            "image": images.PYTHON,
            "command": ["python3", "-c", f"import os; assert len(os.listdir('/data')) >= {FILES}"],
            "datasets": [{"name": "late", "mountPath": "/data", "wait": {}}],
            "template": {"spec": {"securityContext": {"runAsUser": 65532}}},
        },
    }
    delivery.commit(data.spec, run)
    tells(delivery, run, "Suspended", Suspended="DatasetNotReady")
    tells(delivery, data.spec, "Degraded", Stalled="ContainerConfigError")
    strike(delivery.place.nodes, "stowplan.agents.gate")
    wait_for(lambda: restarts(delivery, "app.kubernetes.io/component=gate"), SECONDS, what="another gate")
    tells(delivery, run, "Suspended", Suspended="DatasetNotReady")
    give_keys(delivery, "late")
    delivery.tells(run, "Healthy", 3 * SECONDS, phase="Succeeded")


def test_await_that_is_killed(delivery: Delivery) -> None:
    """Its pod ends with it, and what the parameter server held is lost: the group ends, and says why."""
    spec = job("awaited", "import time; time.sleep(600)")
    serves = ["python3", "-m", "http.server", "36000"]
    server = {"name": "main", "image": images.PYTHON, "command": serves}
    spec["spec"]["ps"] = {"replicas": 1, "template": {"spec": {"containers": [server]}}}
    delivery.commit(spec)
    delivery.reaches(spec, 2 * SECONDS, phase="Running")

    def serves_others() -> bool:
        jobs = delivery.place.cluster.admin.list("batch/v1", "Job", NAMESPACE, "stowplan.dev/name=awaited")
        return any(HELPER_PREFIX in str(each["metadata"].get("annotations")) for each in jobs)

    wait_for(serves_others, SECONDS, what="a server that others rely on")
    strike(delivery.place.nodes, "stowplan.agents.await_group")
    tells(delivery, spec, "Degraded", phase="Failed", Failed="HelperLost")


def test_sync_and_cache_that_are_killed(delivery: Delivery, servers: Stores) -> None:
    """Of a SampleSet: the next attempt copies, and the cache pod's container starts again."""
    servers.bucket.put({f"cached/{number}.bin": bytes(1 << 20) for number in range(20)})
    admin = delivery.place.cluster.admin
    for each in (secret(NAMESPACE, "cached", servers.volume(1)), secret(NAMESPACE, "source", stores.KEYS)):
        admin.create(each)
    source = {"uri": f"{servers.url}cached/", "secretRef": {"name": "source"}}
    spec = {
        **ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "cached", NAMESPACE),
        "spec": {"partitions": 1, "source": source, "secretRef": {"name": "cached"}},
    }
    delivery.commit(spec)
    strike(delivery.place.nodes, "stowplan.agents.cache sync")
    tells(delivery, spec, "Progressing", Synced="ContainerFailed")
    delivery.tells(spec, "Healthy", 3 * SECONDS, phase="Ready", Warmed="Succeeded")
    wait_for(
        lambda: delivery.live(spec)["status"]["cacheStatus"]["totalFiles"] == "20",
        SECONDS,
        what="the size of all files",
    )
    strike(delivery.place.nodes, "stowplan.agents.cache runtime")
    tells(delivery, spec, "Progressing", phase="PartialReady")
    tells(delivery, spec, "Healthy", phase="Ready")
    assert restarts(delivery, "stowplan.dev/name=cached,app.kubernetes.io/component=runtime") == 1


def test_transfer_that_is_killed(delivery: Delivery, servers: Stores) -> None:
    data = dataset(delivery.place, servers.bucket, "struck")
    give_keys(delivery, "struck")
    with slow_network(RATE):
        delivery.commit(data.spec)
        wait_for(data.inodes, 2 * SECONDS, what="the first file")
        strike(delivery.place.nodes, "stowplan.agents.transfer")
        whole = data.inodes()
        assert len(whole) < FILES
    tells(delivery, data.spec, "Progressing", Synced="ContainerFailed")
    delivery.tells(data.spec, "Healthy", 3 * SECONDS, phase="Ready")
    assert data.found() == data.content
    assert whole <= data.inodes()


def test_store_that_is_gone_for_two_minutes(delivery: Delivery, servers: Stores) -> None:
    """The server is killed in the middle of a copy. What was whole then is not copied again."""
    data = dataset(delivery.place, servers.bucket, "cut")
    give_keys(delivery, "cut")
    with slow_network(RATE):
        delivery.commit(data.spec)
        wait_for(data.inodes, 2 * SECONDS, what="the first file")
        servers.server.kill()
    back = time.monotonic() + GONE
    try:
        whole = data.inodes()
        assert len(whole) < FILES
        tells(delivery, data.spec, "Progressing", Synced="RequestFailed")
        time.sleep(max(0.0, back - time.monotonic()))
    finally:
        servers.server.start()
    delivery.tells(data.spec, "Healthy", 5 * SECONDS, phase="Ready")
    assert data.found() == data.content
    assert whole <= data.inodes()
