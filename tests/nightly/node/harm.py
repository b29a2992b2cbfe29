"""What is done to nodes that run: processes are killed or stopped, disks filled, networks cut."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.cluster.client import wait_for
from tests.nightly.node import configuration, network
from tests.nightly.node.machine import DISK, Machine
from tests.nightly.node.place import Place
from tests.nightly.node.pods import SECONDS


def strike(nodes: Sequence[Machine], words: str) -> None:
    """SIGKILL for all processes in containers whose command holds these words, as soon as there is one."""

    def struck() -> int:
        return sum(_signal(words, signal.SIGKILL, partial(_is_on, each)) for each in nodes)

    wait_for(struck, SECONDS, what=words, longest=0.1)


def signal_clients(nodes: Sequence[Machine], volume: str, number: signal.Signals) -> int:
    """Send a signal to the clients that have mounted a volume; gives how many there are."""
    return sum(_signal(volume, number, partial(_is_of, str(each.client))) for each in nodes)


@contextmanager
def cut_off(node: Machine) -> Iterator[None]:
    """Until the block ends, nothing reaches the node, and it reaches nothing but itself."""
    network.unplug(node.bridge, node.number)
    try:
        yield
    finally:
        network.plug(node.bridge, node.number)


@contextmanager
def without_power(place: Place, node: Machine, driver: str) -> Iterator[None]:
    """Until the block ends, nothing of the node is there. Then it starts again, with this CSI driver."""
    node.lose_power()
    try:
        yield
    finally:
        node.start(node.bridge, len(place.nodes))
        node.start_kubelet()
        node.start_proxy()
        node.start_csi(driver)


@contextmanager
def slow_network(rate: str) -> Iterator[None]:
    """Until the block ends, no more than this comes to the nodes from beside them."""
    shaped = ("dev", network.interface(), "root", "tbf", "rate", rate, "burst", "256kb", "latency", "400ms")
    subprocess.run(["tc", "qdisc", "add", *shaped], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["tc", "qdisc", "del", "dev", network.interface(), "root"], check=True, capture_output=True)


def used(node: Machine) -> int:
    """Bytes of the kubelet's file system that are not free."""
    found = os.statvfs(node.seen(configuration.KUBELET))
    return (found.f_blocks - found.f_bfree) * found.f_frsize


@contextmanager
def filled(node: Machine, left: int) -> Iterator[None]:
    """Until the block ends, the kubelet's file system has no more than these bytes left."""
    ballast = node.seen(f"{configuration.KUBELET}/ballast")
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, DISK - used(node) - left)
    try:
        yield
    finally:
        ballast.unlink()


def _signal(words: str, number: signal.Signals, chosen: Callable[[Path], bool]) -> int:
    """Send a signal to the chosen ones of all processes whose command holds these words; gives how many."""
    found = 0
    for each in Path("/proc").glob("[0-9]*"):
        # It may end at any moment.
        with contextlib.suppress(OSError):
            if words in _command(each) and chosen(each):
                os.kill(int(each.name), number)
                found += 1
    return found


def _command(process: Path) -> str:
    return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


def _is_of(program: str, process: Path) -> bool:
    """Whether a process runs this program."""
    return _command(process).startswith(program)


def _is_on(node: Machine, process: Path) -> bool:
    """Whether a process is in a container of the node."""
    return node.cgroup in (process / "cgroup").read_text(encoding="utf-8")
