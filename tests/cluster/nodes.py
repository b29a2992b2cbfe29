"""Fake nodes, played by KWOK: pods are scheduled onto them by the real scheduler and run by `stages.yaml`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.client import Client, Manifest, true_conditions
from tests.cluster.processes import Processes

STAGES = Path(__file__).with_name("stages.yaml")
COUNT = 4
"""Enough for the SampleSets of the examples, which place one cache pod per node."""

_PLAYED = "kwok.stowplan.dev/node"
"""Label of the nodes that KWOK plays: a kubelet may run another."""


def node(name: str) -> Manifest:
    """A node with resources for any test, and the host name label that podAffinity needs."""
    amounts = {"cpu": "1k", "memory": "1Ti", "ephemeral-storage": "10Ti", "pods": "1k", "nvidia.com/gpu": "64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", _PLAYED: "true"},
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def start(processes: Processes, kwok: Path, kubeconfig: Path, client: Client) -> None:
    """Run KWOK and register the nodes; they become ready a moment later."""
    arguments = [
        f"--kubeconfig={kubeconfig}",
        f"--config={STAGES}",
        f"--manage-nodes-with-label-selector={_PLAYED}=true",
        "--node-ip=127.0.0.1",
        # Without heartbeats the node controller calls a node lost after 50 s, and its pods not ready for good.
        "--node-lease-duration-seconds=40",
    ]
    processes.start(kwok, arguments)
    for number in range(COUNT):
        client.create(node(f"node-{number}"))


def ready(client: Client) -> bool:
    """Whether every node reports Ready and the node controller has taken away its first taints."""
    nodes = client.list("v1", "Node", labels=_PLAYED)
    return len(nodes) == COUNT and all(_is_ready(item) for item in nodes)


def _is_ready(item: Manifest) -> bool:
    return "Ready" in true_conditions(item) and not item["spec"].get("taints")


@contextmanager
def cordoned(client: Client) -> Iterator[None]:
    """No new pods for these nodes until the block ends."""
    played = client.list("v1", "Node", labels=_PLAYED)
    try:
        for each in played:
            client.patch(each, {"spec": {"unschedulable": True}})
        yield
    finally:
        for each in played:
            client.patch(each, {"spec": {"unschedulable": None}})
