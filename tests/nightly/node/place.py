"""One place where nothing is played: a control plane and two nodes with real kubelets, networks and containers."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.agents.cache.volume import why_not
from tests.cluster import container_image, control_plane
from tests.cluster.certificates import LOOPBACK
from tests.cluster.client import ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.processes import Processes
from tests.cluster.tools import CNI, COREDNS, CSI, ETCD, JUICEFS, KUBELET, KUBERNETES, NEWEST
from tests.nightly.node import dns, leftovers, machine, network
from tests.nightly.node.machine import Machine

TOOLS = (ETCD, KUBERNETES[NEWEST], KUBELET, CNI, COREDNS, CSI, JUICEFS)
NAMES = ("node-1", "node-2")
KUBERNETES_SERVICE = "10.96.0.1"
"""Where pods call the API server."""

_PROGRAMS = (
    "busybox",
    "containerd",
    "containerd-shim-runc-v2",
    "ctr",
    "ip",
    "nft",
    "nsenter",
    "runc",
    "sysctl",
    "tc",
    "unshare",
)


@dataclass(frozen=True)
class Place:
    """A running cluster with its nodes."""

    cluster: Cluster
    nodes: tuple[Machine, ...]
    programs: Mapping[str, Path]
    folder: Path
    start_seconds: float

    def kubectl(self, *arguments: str) -> str:
        """What `kubectl` prints for an administrator."""
        command = [str(self.programs["kubectl"]), f"--kubeconfig={self.cluster.kubeconfig}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def start_csi(self, driver: str) -> None:
        """A CSI driver of this name on all nodes, of which none stages or attaches."""
        spec = {"attachRequired": False, "podInfoOnMount": False, "volumeLifecycleModes": ["Persistent"]}
        admin = self.cluster.admin
        admin.apply({**ref("storage.k8s.io/v1", "CSIDriver", driver), "spec": spec}, manager="harness")
        for node in self.nodes:
            node.start_csi(driver)
        names = {node.name for node in self.nodes}
        wait_for(lambda: names <= self._nodes_with(driver), machine.SECONDS, what=driver)

    def _nodes_with(self, driver: str) -> set[str]:
        """Where the kubelet knows the driver."""
        found = self.cluster.admin.list("storage.k8s.io/v1", "CSINode")
        drivers = {each["metadata"]["name"]: each["spec"].get("drivers") or () for each in found}
        return {name for name, there in drivers.items() if driver in {each["name"] for each in there}}

    def load(self, archive: Path) -> None:
        """Give all nodes an image."""
        for each in self.nodes:
            each.load(archive)


def obstacle() -> str | None:
    """Why there can be no such place on this machine; None if nothing is known to be in the way."""
    if reason := why_not():
        return reason
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if missing:
        packages = "containerd runc busybox-static iproute2 nftables procps util-linux"
        return f"nodes need {', '.join(missing)} (Debian: {packages})"
    done = subprocess.run(["unshare", *machine.NAMESPACES, "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"namespaces cannot be made here: {done.stderr.strip()}"
    if "overlay" not in Path("/proc/filesystems").read_text(encoding="ascii"):
        return "nodes need overlays, which this kernel does not have"
    return None


@contextmanager
def running(programs: Mapping[str, Path], folder: Path, number: int = 1) -> Iterator[Place]:
    """Bring it up, give it once both nodes and the name server are ready, and take it all away again.

    The number is 0 or 1: there is one place of each at a time on a machine. The folder gets the logs; they stay.
    """
    network.Own.place = number
    cgroups = {name: f"/stowplan-{os.getpid()}-{name}" for name in NAMES}
    folders = [folder / name for name in ("images", *NAMES)]
    with leftovers.named(folders, list(cgroups.values())), ExitStack() as stack:
        begin = time.monotonic()
        processes = Processes(folder)
        stack.callback(processes.stop)
        bridge = network.start(processes)
        cluster_folder = folder / "cluster"
        cluster_folder.mkdir()
        addresses = (network.host(), KUBERNETES_SERVICE, LOOPBACK)
        cluster = stack.enter_context(control_plane.running(programs, cluster_folder, addresses))
        nodes = tuple(
            Machine(name, number, folder / name, cluster, programs, cgroups[name])
            for number, name in enumerate(NAMES, start=1)
        )
        for node in nodes:
            stack.callback(node.stop)
            node.start(bridge, len(nodes))
        place = Place(cluster, nodes, programs, folder, time.monotonic() - begin)
        _fill(place)
        _start(place)
        yield Place(cluster, nodes, programs, folder, time.monotonic() - begin)


def _fill(place: Place) -> None:
    """The images that pods need before any other."""
    images = place.folder / "images"
    images.mkdir()
    container_image.write(Path(shutil.which("busybox") or ""), images / "busybox.tar")
    dns.write_image(place.programs["coredns"], images / "coredns.tar")
    for each in ("busybox", "coredns"):
        place.load(images / f"{each}.tar")


def _start(place: Place) -> None:
    admin = place.cluster.admin
    dns.apply(admin)
    kubelets = []
    for node in place.nodes:
        _make_groups(node.cgroup)
        kubelets.append((node, node.start_kubelet()))
        node.start_proxy()
    for node, process in kubelets:
        process.await_ready(node.is_ready, machine.SECONDS)
    wait_for(lambda: dns.is_ready(admin), machine.SECONDS, what="the name server")


def _make_groups(cgroup: str) -> None:
    """The kubelet wants its root to be there."""
    name = cgroup.strip("/")
    roots = [each for each in leftovers.CGROUPS.iterdir() if (each / "tasks").is_file()] or [leftovers.CGROUPS]
    for each in roots:
        (each / name).mkdir(exist_ok=True)
