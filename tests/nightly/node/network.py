"""The network of the nodes: a bridge in a namespace of its own, and one wire from there to the tests.

All addresses are of 198.18.0.0/15, which is set aside for benchmarks (RFC 2544): a half of it for each of two places.
No namespace has a way out: packets for other addresses find nobody on the bridge.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.client import wait_for
from tests.cluster.processes import Process, Processes

_WIDTH = 24
_OWN_NAMESPACE = ["--net", "sleep", "infinity"]


class Own:
    """The place of this process, which has one at a time."""

    place = 0
    """One of two numbers. All addresses and names depend on it."""

    @classmethod
    def prefix(cls) -> str:
        """Of all addresses."""
        return f"198.{18 + cls.place}"


def host() -> str:
    """Where the tests are: the API server, and what they serve to pods."""
    return f"{Own.prefix()}.0.1"


def interface() -> str:
    """The tests' end of the wire."""
    return f"stowplan{Own.place}"


def pods() -> str:
    """All addresses of pods and nodes."""
    return f"{Own.prefix()}.0.0/16"


def node_address(number: int) -> str:
    return f"{Own.prefix()}.0.{10 + number}"


def pod_subnet(number: int) -> str:
    """Of the pods of one node."""
    return f"{Own.prefix()}.{number}.0/{_WIDTH}"


def start(processes: Processes) -> Process:
    """Make the bridge, and wire the tests to it. Both are gone with the process."""
    bridge = processes.start(Path("/usr/bin/unshare"), _OWN_NAMESPACE, name="network")
    await_namespace(bridge)
    inside(bridge, "ip", "link", "add", "nodes", "type", "bridge")
    inside(bridge, "ip", "link", "set", "nodes", "up")
    _wire(bridge, "tests", [interface()])
    _run("ip", "address", "add", f"{host()}/{_WIDTH}", "dev", interface())
    _run("ip", "link", "set", interface(), "up")
    return bridge


def join(bridge: Process, node: Process, number: int, count: int) -> None:
    """Wire a node to the bridge, and lead the way to the pods of the others."""
    _wire(bridge, f"node-{number}", ["eth0", "netns", str(node.popen.pid)])
    inside(node, "ip", "link", "set", "lo", "up")
    inside(node, "ip", "address", "add", f"{node_address(number)}/{_WIDTH}", "dev", "eth0")
    inside(node, "ip", "link", "set", "eth0", "up")
    # A Service's address gets its real destination only after the kernel has found a way to it.
    inside(node, "ip", "route", "add", "default", "dev", "eth0")
    inside(node, "sysctl", "--quiet", "--write", "net.ipv4.ip_forward=1")
    for other in range(1, count + 1):
        if other != number:
            inside(node, "ip", "route", "add", pod_subnet(other), "via", node_address(other))
    _run("ip", "route", "replace", pod_subnet(number), "via", node_address(number), "dev", interface())


def unplug(bridge: Process, number: int) -> None:
    """Cut a node off; its own end of the wire stays as it is."""
    inside(bridge, "ip", "link", "set", f"node-{number}", "nomaster")


def plug(bridge: Process, number: int) -> None:
    """Wire a node to the bridge again."""
    inside(bridge, "ip", "link", "set", f"node-{number}", "master", "nodes")


def cut(bridge: Process, number: int) -> None:
    """Take the wire of a node away, with both ends."""
    inside(bridge, "ip", "link", "delete", f"node-{number}")


def await_namespace(process: Process) -> None:
    """Until the process has a network of its own."""
    ours = Path("/proc/self/ns/net").readlink()
    wait_for(lambda: Path(f"/proc/{process.popen.pid}/ns/net").readlink() != ours, what=f"network of {process.name}")


def inside(process: Process, *command: str) -> None:
    """Run a command in the network of a process."""
    _run("nsenter", f"--target={process.popen.pid}", "--net", *command)


def _wire(bridge: Process, port: str, other_end: Sequence[str]) -> None:
    namespace = str(bridge.popen.pid)
    _run("ip", "link", "add", port, "netns", namespace, "type", "veth", "peer", "name", *other_end)
    inside(bridge, "ip", "link", "set", port, "master", "nodes", "up")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
