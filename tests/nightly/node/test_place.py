"""The nodes are real: networks, names, logs, limits."""

from ipaddress import ip_address, ip_network

import pytest

from tests.cluster.client import Manifest, ref, wait_for
from tests.nightly.node import network
from tests.nightly.node.place import Place
from tests.nightly.node.pods import SECONDS, await_phase, pod, python_pod

SERVES = 'echo "$HOSTNAME serves" > /index.html && exec httpd -f -p 8080 -h /'


@pytest.fixture(scope="module")
def servers(place: Place) -> dict[str, Manifest]:
    """A web server on each node, by its name; a Service before both."""
    admin = place.cluster.admin
    for node in place.nodes:
        server = pod(f"server-on-{node.name}", SERVES, node.name)
        server["metadata"]["labels"] = {"app": "server"}
        admin.create(server)
    spec = {"selector": {"app": "server"}, "ports": [{"port": 80, "targetPort": 8080}]}
    admin.create({**ref("v1", "Service", "server", "default"), "spec": spec})
    names = {node.name: ref("v1", "Pod", f"server-on-{node.name}", "default") for node in place.nodes}
    return {name: await_phase(admin, each, "Running") for name, each in names.items()}


def answers(place: Place, name: str, url: str, node: str = "", times: int = 1) -> list[str]:
    """What a pod on the node gets from there."""
    script = f"""
import ssl, urllib.request
for _ in range({times}):
    print(urllib.request.urlopen("{url}", timeout=20, context=ssl._create_unverified_context()).read().decode().strip())
"""
    asks = place.cluster.admin.create(python_pod(name, script, node))
    await_phase(place.cluster.admin, asks, "Succeeded")
    return place.kubectl("logs", name).splitlines()


def test_it_is_up_at_once(place: Place) -> None:
    assert place.start_seconds < 90
    assert place.kubectl("get", "nodes", "--no-headers").split()[:2] == ["node-1", "Ready"]


def test_pods_reach_each_other_across_nodes(place: Place, servers: dict[str, Manifest]) -> None:
    first, second = place.nodes
    address = servers[second.name]["status"]["podIP"]
    assert ip_address(address) in ip_network(network.pod_subnet(second.number))
    assert answers(place, "across", f"http://{address}:8080/", first.name) == ["server-on-node-2 serves"]


@pytest.mark.parametrize("number", [0, 1])
def test_pods_reach_a_service_by_its_name(place: Place, servers: dict[str, Manifest], number: int) -> None:
    """Also when the pod that answers is on the same bridge as the one that asks."""
    lines = answers(place, f"by-name-{number}", "http://server.default.svc/", place.nodes[number].name, times=12)
    assert len(lines) == 12
    assert set(lines) == {"server-on-node-1 serves", "server-on-node-2 serves"}


def test_pods_reach_the_api_server(place: Place) -> None:
    """By its name; its address is in the environment of each pod."""
    assert place.cluster.version in "".join(answers(place, "api", "https://kubernetes.default.svc/version"))


def test_nothing_leaves_the_nodes(place: Place) -> None:
    script = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error:
    print(error)
"""
    place.cluster.admin.create(python_pod("leaves", script))
    await_phase(place.cluster.admin, ref("v1", "Pod", "leaves", "default"), "Succeeded")
    assert "No route to host" in place.kubectl("logs", "leaves")


def test_commands_run_in_containers(place: Place, servers: dict[str, Manifest]) -> None:
    assert place.kubectl("exec", "server-on-node-2", "--", "cat", "/index.html") == "server-on-node-2 serves\n"


def test_container_that_takes_too_much_memory_is_killed(place: Place) -> None:
    limits = {"limits": {"memory": "16Mi"}}
    place.cluster.admin.create(pod("greedy", "tail /dev/zero", resources=limits))
    ended = await_phase(place.cluster.admin, ref("v1", "Pod", "greedy", "default"), "Failed")
    state = ended["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (state["reason"], state["exitCode"]) == ("OOMKilled", 137)


def test_node_is_lost_and_comes_back(place: Place) -> None:
    """With the end of its kubelet alone: its containers go on."""
    node = place.nodes[0]
    node.stop_kubelet()
    wait_for(lambda: not node.is_ready(), SECONDS, what="the loss")
    node.start_kubelet()
    wait_for(node.is_ready, SECONDS, what="its return")
