"""Reports of the agents of cache nodes on a SampleSet, with the rights of their Role, on a real API server."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.agents.accounts import account_directory
from tests.agents.cache import redis_server
from tests.agents.cache.runtime_agent import DATASET, Runtime, runtime
from tests.agents.cache.volume import Mount, Store, Volume, why_not
from tests.cluster.binaries import Missing, obtain
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.deciders import ACCOUNT, Deciders
from tests.cluster.tools import JUICEFS

GROUP = "batch.paddlepaddle.org"
RBAC = "rbac.authorization.k8s.io"
MIB = 1 << 20


@pytest.fixture(scope="module")
def account(cluster: Cluster, served: dict[str, Manifest]) -> Iterator[Deciders]:
    """An account with the rights of an agent on one SampleSet, and on nothing else."""
    found = Deciders(cluster, cluster.namespace("cache-status"))
    found.account()
    names = {"apiGroups": [GROUP], "resourceNames": [DATASET]}
    rules = [
        {**names, "resources": ["samplesets"], "verbs": ["get"]},
        {**names, "resources": ["samplesets/status"], "verbs": ["get", "patch"]},
    ]
    cluster.admin.apply({**ref(f"{RBAC}/v1", "Role", ACCOUNT, found.namespace), "rules": rules})
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": found.namespace}
    role = {"apiGroup": RBAC, "kind": "Role", "name": ACCOUNT}
    binding = ref(f"{RBAC}/v1", "RoleBinding", ACCOUNT, found.namespace)
    cluster.admin.apply({**binding, "roleRef": role, "subjects": [subject]})
    yield found
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": found.namespace}})


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Mount]]:
    """Two nodes with the same volume, which holds two files; both are cached on the first node."""
    found, server = obtain(JUICEFS), redis_server.program()
    reason = str(found) if isinstance(found, Missing) else why_not()
    if isinstance(found, Missing) or server is None or reason:
        pytest.skip(reason or "no redis-server on this machine")
    folder = tmp_path_factory.mktemp("cache-status")
    with ExitStack() as stack:
        redis = stack.enter_context(redis_server.running(folder / "redis", server))
        volume = Volume(found.paths["juicefs"], folder / "volume", redis.url(1), Store("file", f"{folder}/blocks/"))
        volume.format()
        made = [Mount(volume, folder / f"node-{number}") for number in range(2)]
        for node in made:
            stack.callback(node.stop)
            node.start()
        (made[0].path / "a").write_bytes(b"a" * 3 * MIB)
        (made[0].path / "b").write_bytes(b"b" * MIB)
        made[0].run("warmup", made[0].path / "a", made[0].path / "b")
        yield made


@pytest.fixture
def made(account: Deciders) -> Iterator[Manifest]:
    """The custom resource, as Argo CD applies it."""
    admin = account.cluster.admin
    resource = ref(f"{GROUP}/v1alpha1", "SampleSet", DATASET, account.namespace)
    yield admin.create({**resource, "spec": {"partitions": 2, "noSync": True}})
    admin.delete(resource)


class Agents:
    """Starts the agents of nodes."""

    def __init__(self, account: Deciders, folder: Path, stack: ExitStack) -> None:
        self.account, self.folder, self.stack = account, folder, stack
        trust = account.cluster.trust
        self.files = account_directory(
            folder / "account", token=account.token(), authorities=trust.authority.certificate
        )  # fmt: skip
        address = urlsplit(trust.server)
        self.environment = {
            "KUBERNETES_SERVICE_HOST": str(address.hostname),
            "KUBERNETES_SERVICE_PORT": str(address.port),
        }
        self.count = 0

    def start(self, node: Mount, ordinal: int = 0, **fields: Any) -> Runtime:
        self.count += 1
        target = {"kind": "SampleSet", "namespace": self.account.namespace, "name": DATASET}
        return self.stack.enter_context(
            runtime(
                self.folder / f"agent-{self.count}",
                node,
                ordinal,
                self.environment,
                self.files,
                **{"target": target, "partitions": 2, **fields},
            )
        )


@pytest.fixture
def agents(account: Deciders, tmp_path: Path) -> Iterator[Agents]:
    with ExitStack() as stack:
        yield Agents(account, tmp_path, stack)


def await_status(account: Deciders, made: Manifest, timeout: float = 60, **fields: Any) -> dict[str, Any]:
    """Waits until the status has these fields; gives all of it."""
    admin = account.cluster.admin

    def asked() -> dict[str, Any] | None:
        status: dict[str, Any] = admin.get(made).get("status") or {}
        return status if fields.items() <= status.items() else None

    try:
        return wait_for(asked, timeout, what=str(fields))
    except TimeoutError as error:
        raise AssertionError(admin.get(made).get("status")) from error


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def partitions(status: dict[str, Any]) -> list[dict[str, Any]]:
    """By ordinal: the server keeps them in the order in which they came."""
    return sorted(status["partitions"], key=lambda each: int(each["ordinal"]))


def managers(live: Manifest) -> dict[str, set[str]]:
    """Fields of the status by who owns them."""
    found = live["metadata"]["managedFields"]
    return {
        each["manager"]: {name.removeprefix("f:") for name in each["fieldsV1"]["f:status"]}
        for each in found
        if each.get("subresource") == "status"
    }


def attempt(account: Deciders, made: Manifest, task: str, **fields: Any) -> None:
    """What an agent of a task reports."""
    entry = {"task": task, "partition": 0, "run": f"{DATASET}-{task}-abcdefgh", **fields}
    body = {**{key: made[key] for key in ("apiVersion", "kind")}, "metadata": {"name": DATASET}}
    admin = account.cluster.admin
    admin.request(
        "PATCH",
        f"{admin.path(made, 'status')}?fieldManager=stowplan-{task}-0&force=true",
        {**body, "status": {"attempts": [entry]}},
        "application/apply-patch+yaml",
    )


def test_two_nodes(account: Deciders, made: Manifest, nodes: list[Mount], agents: Agents) -> None:
    agents.start(nodes[0])
    status = await_status(account, made, phase="PartialReady")
    assert status["runtimeStatus"] == {"specReplicas": 2, "readyReplicas": 1, "runtimeReady": "1/2"}
    assert conditions(status) == {"Ready": ("False", "PartialReady"), "Stalled": ("False", "NotStalled")}
    agents.start(nodes[1], 1)
    status = await_status(account, made, phase="Ready")
    assert conditions(status) == {"Ready": ("True", "Ready"), "Stalled": ("False", "NotStalled")}
    assert status["runtimeStatus"]["runtimeReady"] == "2/2"
    assert status["cacheStatus"] == {
        "totalSize": "4.0 MiB",
        "totalFiles": "2",
        "cachedSize": "4.0 MiB",
        "diskSize": "512 MiB",
        "diskUsed": "4.0 MiB",
        "diskAvail": "508 MiB",
        "diskUsageRate": "0.8%",
    }
    one, other = partitions(status)
    assert (one["ordinal"], one["node"], one["totalFiles"]) == (0, "node-0", 2)
    assert (one["totalBytes"], one["cachedBytes"]) == (4 * MIB + 4096, 4 * MIB + 2 * 4096)
    assert (other["ordinal"], other["node"], other["cachedBytes"], other["budgetBytes"]) == (1, "node-1", 0, 256 * MIB)
    live = account.cluster.admin.get(made)
    assert status["observedGeneration"] == live["metadata"]["generation"]
    assert managers(live) == {
        "stowplan-cache-0": {"partitions"},
        "stowplan-cache-1": {"partitions"},
        "stowplan-cache-sum": {"cacheStatus", "conditions", "observedGeneration", "phase", "runtimeStatus"},
    }


def test_available_space_of_caches_in_memory_is_that_of_their_nodes(
    account: Deciders, made: Manifest, nodes: list[Mount], agents: Agents, tmp_path: Path
) -> None:
    """One node has memory for all of its cache, the other one for a quarter of it."""
    options = ["cache-dir=/dev/shm/imagenet", "cache-size=256"]
    for number, available in enumerate((1024, 64)):
        file = tmp_path / f"meminfo-{number}"
        file.write_text(f"MemTotal: 8388608 kB\nMemAvailable: {available * 1024} kB\n", encoding="ascii")
        agents.environment["STOWPLAN_MEMINFO"] = str(file)
        agents.start(nodes[number], number, mountOptions=options)
    status = await_status(account, made, phase="Ready")
    cached = 4 * MIB + 2 * 4096
    assert [each["availableBytes"] for each in partitions(status)] == [256 * MIB - cached, 64 * MIB]
    assert (status["cacheStatus"]["diskSize"], status["cacheStatus"]["diskAvail"]) == ("512 MiB", "316 MiB")


def test_node_whose_mount_hangs(account: Deciders, made: Manifest, nodes: list[Mount], agents: Agents) -> None:
    agents.start(nodes[0])
    agents.start(nodes[1], 1)
    await_status(account, made, phase="Ready")
    nodes[1].freeze()
    try:
        status = await_status(account, made, phase="PartialReady")
    finally:
        nodes[1].thaw()
    told = "MountHung: The mount has not answered for 10 s"
    assert partitions(status)[1].get("message") == told
    assert status["cacheStatus"]["errorMassage"] == f"partition 1: {told}"
    ready = next(each for each in status["conditions"] if each["type"] == "Ready")
    assert (ready["status"], ready["message"]) == ("False", f"1 of 2 cache pods are ready: partition 1: {told}")
    status = await_status(account, made, phase="Ready")
    assert "errorMassage" not in status["cacheStatus"]
    assert "message" not in partitions(status)[1]


def test_fewer_partitions(account: Deciders, made: Manifest, nodes: list[Mount], agents: Agents) -> None:
    """The entry of a node that is no more goes, whoever wrote it."""
    first, second = agents.start(nodes[0]), agents.start(nodes[1], 1)
    await_status(account, made, phase="Ready")
    assert (second.end(), first.end()) == (143, 143)
    ended = account.cluster.admin.get(made)["status"]["partitions"]
    assert [each["message"] for each in ended] == ["Ended: The cache pod has ended"] * 2
    agents.start(nodes[0], partitions=1)
    status = await_status(account, made, phase="Ready", runtimeStatus={
        "specReplicas": 1, "readyReplicas": 1, "runtimeReady": "1/1",
    })  # fmt: skip
    wait_for(lambda: len(account.cluster.admin.get(made)["status"]["partitions"]) == 1, what="one partition")
    assert status["cacheStatus"]["diskSize"] == "256 MiB"


def test_dataset_that_a_sync_fills(account: Deciders, made: Manifest, nodes: list[Mount], agents: Agents) -> None:
    agents.start(nodes[0], partitions=1, synced=True, warmed=True)
    status = await_status(account, made, phase="Mount")
    assert conditions(status)["Synced"] == ("False", "NotStarted")
    attempt(account, made, "sync", state="running", message="Under way", reason="Running")
    status = await_status(account, made, phase="Syncing")
    assert status["jobsName"] == {"syncJobName": "imagenet-sync-abcdefgh"}
    attempt(account, made, "sync", state="failed", exitCode=3, reason="AccessDenied", message="no access")
    status = await_status(account, made, phase="SyncFailed")
    assert conditions(status)["Ready"] == conditions(status)["Synced"] == ("False", "AccessDenied")
    attempt(account, made, "sync", state="succeeded", exitCode=0, reason="Succeeded")
    attempt(account, made, "warmup", state="running", reason="Running")
    status = await_status(account, made, phase="Ready")
    assert conditions(status)["Synced"] == ("True", "Succeeded")
    assert conditions(status)["Warmed"] == ("False", "Running")
    assert status["jobsName"]["warmupJobName"] == "imagenet-warmup-abcdefgh"


def test_phase_is_left_to_the_reporter(account: Deciders, made: Manifest, nodes: list[Mount], agents: Agents) -> None:
    agents.start(nodes[0], reportPhase=False)
    wait_for(
        lambda: (account.cluster.admin.get(made).get("status") or {}).get("cacheStatus", {}).get("totalFiles") == "2",
        what="sums",
    )
    assert set(account.cluster.admin.get(made)["status"]) == {"cacheStatus", "partitions"}
