"""Agents that are killed, and a store that is gone: the work goes on where it was, and nothing is lost."""

import random
import time
from pathlib import Path
from typing import Any

from tests.agents.transfer.git import server as git_server
from tests.agents.transfer.git.author import author
from tests.cluster.client import Manifest, ref, wait_for
from tests.nightly.node import claims, images, network, stores
from tests.nightly.node.delivery import STOWPLAN, Delivery, secret
from tests.nightly.node.faults.copied import FILES, dataset
from tests.nightly.node.faults.faulty import NAMESPACE, SECONDS, job, tells
from tests.nightly.node.harm import slow_network, strike
from tests.nightly.node.stores import Stores

GONE = 120
"""Seconds without a store."""
SAVES = """
import os, time
while not os.path.exists("/checkpoints/go"):
    time.sleep(0.1)
with open(os.environ["STOWPLAN_CHECKPOINT_DIR"] + "/model", "wb") as file:
    file.write(os.urandom(5 << 20))
"""
"""Goes on when the test says so."""
CHANCE = random.Random("faults")  # noqa: S311 - the same in each run
RATE = "100mbit"
"""Slow enough for a fault in the middle of a copy."""


def give_keys(delivery: Delivery, name: str) -> None:
    delivery.place.cluster.admin.create(secret(NAMESPACE, name, stores.KEYS))


def restarts(delivery: Delivery, labels: str) -> int:
    """How often the containers of pods were started again."""
    kinds = ("initContainerStatuses", "containerStatuses")
    states = [each for pod in delivery.pods(labels) for kind in kinds for each in pod["status"].get(kind, ())]
    return sum(int(each["restartCount"]) for each in states)


def training(name: str, script: str, **fields: Any) -> Manifest:
    """A Training on one node, which runs Python."""
    pod = {"securityContext": {"runAsUser": 65532, "fsGroup": 65532}, **fields.pop("pod", {})}
    command = ["python3", "-c", script]
    spec = {"framework": "none", "image": images.PYTHON, "command": command, "template": {"spec": pod}, **fields}
    return {**ref(STOWPLAN, "Training", name, NAMESPACE), "spec": spec}


def await_another(delivery: Delivery, labels: str, before: set[str]) -> None:
    """Until there is a pod that was not there before."""

    def another() -> bool:
        return bool(names(delivery, labels) - before)

    wait_for(another, SECONDS, what=f"another pod with {labels}")


def names(delivery: Delivery, labels: str) -> set[str]:
    return {each["metadata"]["name"] for each in delivery.pods(labels)}


def test_reporter_that_is_killed(delivery: Delivery) -> None:
    spec = job("reported", "import time; time.sleep(5)")
    delivery.commit(spec)
    strike(delivery.place.nodes, "stowplan.agents.reporter")
    tells(delivery, spec, "Healthy", phase="Completed")


def test_gate_that_is_killed(delivery: Delivery, servers: Stores) -> None:
    """It opens the run once the dataset is ready, which waits for its Secret."""
    data = dataset(delivery.place, servers.bucket, "late", 10)
    reads = f"import os; assert len(os.listdir('/data')) >= {FILES}"
    run = training("gated", reads, datasets=[{"name": "late", "mountPath": "/data", "wait": {}}])
    delivery.commit(data.spec, run)
    tells(delivery, run, "Suspended", Suspended="DatasetNotReady")
    tells(delivery, data.spec, "Degraded", Stalled="ContainerConfigError")
    strike(delivery.place.nodes, "stowplan.agents.gate")
    wait_for(lambda: restarts(delivery, "app.kubernetes.io/component=gate"), SECONDS, what="another gate")
    tells(delivery, run, "Suspended", Suspended="DatasetNotReady")
    give_keys(delivery, "late")
    delivery.tells(run, "Healthy", 3 * SECONDS, phase="Succeeded")


def test_wait_for_a_dataset_that_is_killed(delivery: Delivery, servers: Stores) -> None:
    """The pods wait, since the dataset has no sync of its own. The job ends, and says why; another run waits on."""
    servers.bucket.put({f"later/{number}.bin": bytes(1 << 10) for number in range(FILES)})
    admin, store = delivery.place.cluster.admin, {"sampleSetRef": {"name": "later"}}
    for each in (secret(NAMESPACE, "later", servers.volume(2)), secret(NAMESPACE, "keys", stores.KEYS)):
        admin.create(each)
    group = "batch.paddlepaddle.org/v1alpha1"
    data = {
        **ref(group, "SampleSet", "later", NAMESPACE),
        "spec": {"partitions": 1, "noSync": True, "secretRef": {"name": "later"}},
    }
    run = job("reads", f"import glob; assert len(glob.glob('/data/*.bin')) == {FILES}")
    run["spec"]["sampleSetRef"] = {**store["sampleSetRef"], "mountPath": "/data", "wait": {"until": "synced"}}
    delivery.commit(data, run)
    delivery.tells(run, "Progressing", 3 * SECONDS, Complete="DatasetNotReady")
    strike(delivery.place.nodes, "stowplan.agents.wait_dataset")
    tells(delivery, run, "Degraded", phase="Failed", Failed="ContainerFailed")
    run["metadata"]["annotations"] = {"stowplan.dev/run": "2"}
    options = {"syncOptions": {"source": f"{servers.url}later/"}, "secretRef": {"name": "keys"}}
    fill = {**ref(group, "SampleJob", "fill", NAMESPACE), "spec": {"type": "sync", **store, **options}}
    delivery.commit(run, fill)
    delivery.tells(run, "Healthy", 3 * SECONDS, phase="Completed")


def test_wait_for_peers_that_is_killed(delivery: Delivery) -> None:
    """The other pod has no node. Without JobSet no job restarts, so it ends, and says why."""
    selector = {"matchLabels": {"stowplan.dev/name": "pair", "stowplan.dev/role": "node"}}
    apart = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    run = training("pair", "pass", framework="torch", numNodes=2, pod={"affinity": affinity})
    node = delivery.place.nodes[1].name
    delivery.place.kubectl("cordon", node)
    try:
        delivery.commit(run)
        tells(delivery, run, "Progressing", Complete="Unschedulable")
        strike(delivery.place.nodes, "stowplan.agents.wait_peers")
        tells(delivery, run, "Degraded", phase="Failed", Failed="ContainerFailed")
    finally:
        delivery.place.kubectl("uncordon", node)


def test_hold_on_a_lineage_and_wait_for_a_run_that_are_killed(delivery: Delivery, servers: Stores) -> None:
    """The sidecar of the trainer, and the pod that copies its output, start again; the trainer goes on."""
    folder = claims.volume(delivery.place.nodes[0], NAMESPACE, "saves-checkpoints")
    give_keys(delivery, "saves")
    to = {
        "uri": f"s3://{servers.bucket.bucket}/saves/",
        "endpoint": servers.bucket.endpoint,
        "secretRef": {"name": "saves"},
    }
    run = training(
        "saves",
        SAVES,
        checkpoints={"claim": {"template": claims.template()}},
        outputs=[{"path": f"/checkpoints/{NAMESPACE}/saves", "to": {"s3": to}}],
    )
    delivery.commit(run)
    delivery.reaches(run, 2 * SECONDS, phase="Running")
    trainer, copy = "stowplan.dev/name=saves,stowplan.dev/role=node", "app.kubernetes.io/component=output"
    before = names(delivery, copy)
    strike(delivery.place.nodes, "stowplan.agents.hold_lineage")
    strike(delivery.place.nodes, "stowplan.agents.wait_run")
    wait_for(lambda: restarts(delivery, trainer), SECONDS, what="another sidecar")
    await_another(delivery, copy, before)
    tells(delivery, run, "Progressing", phase="Running")
    assert restarts(delivery, trainer) == 1
    (folder / "go").touch()
    delivery.tells(run, "Healthy", 2 * SECONDS, phase="Succeeded")
    saved = (folder / NAMESPACE / "saves" / "model").read_bytes()
    assert len(saved) == 5 << 20
    assert servers.bucket.read()["saves/model"] == saved


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


def test_git_transfer_that_is_killed(delivery: Delivery, tmp_path: Path) -> None:
    """The next attempt goes on, and the dataset has all files of the commit."""
    content = {f"{number}.bin": CHANCE.randbytes(4 << 20) for number in range(8)}
    folder = claims.volume(delivery.place.nodes[0], NAMESPACE, "cloned")
    with git_server.serving(tmp_path / "git", address=network.host()) as forge:
        author(tmp_path / "author", forge, "cloned.git").commit(content)
        git = {"url": f"{forge.url}/cloned.git", "secretRef": {"name": "cloned"}}
        spec = {"source": {"git": git}, "volume": {"claim": {"template": claims.template()}}}
        data = {**ref(STOWPLAN, "Dataset", "cloned", NAMESPACE), "spec": spec}
        delivery.place.cluster.admin.create(
            secret(NAMESPACE, "cloned", {"username": git_server.USERNAME, "token": git_server.TOKEN})
        )
        with slow_network("30mbit"):
            delivery.commit(data)
            wait_for(lambda: any(folder.rglob("objects/*/*")), 2 * SECONDS, what="the first object")
            strike(delivery.place.nodes, "stowplan.agents.transfer")
        tells(delivery, data, "Progressing", Synced="ContainerFailed")
        delivery.tells(data, "Healthy", 3 * SECONDS, phase="Ready")
    assert {each.name: each.read_bytes() for each in folder.rglob("*.bin")} == content


def test_store_that_is_gone_for_two_minutes(delivery: Delivery, servers: Stores) -> None:
    """The server is killed in the middle of a copy. What was whole then is not copied again."""
    data = dataset(delivery.place, servers.bucket, "gone")
    give_keys(delivery, "gone")
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
