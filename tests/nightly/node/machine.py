"""A node: containerd, kubelet and kube-proxy in namespaces of their own.

The namespaces' first process holds all together: when it dies, the kernel kills the rest, with all containers, and
drops mounts and network. What the programs write to fixed places lies in folders that only they see.
"""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.client import Manifest, ref, true_conditions
from tests.cluster.control_plane import Cluster
from tests.cluster.processes import Process, Processes
from tests.nightly.node import configuration, network

SECONDS = 120
"""What a program may take to start on a machine that others use too."""

DISK = 512 << 20
"""Bytes of the file system of the kubelet's folder, which is in memory. Images and logs are elsewhere."""

NAMESPACES = ["--net", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
_FIRST = """
mount --make-rshared / || exit 1
for each in run dev/shm; do mount -t tmpfs tmpfs /$each || exit 1; done
for each in var/lib var/log var/cache opt; do mount --bind "$1/$each" /$each || exit 1; done
mount -t tmpfs -o "size=$2" tmpfs "$3" || exit 1
touch /run/made
trap 'exit 0' TERM
while :; do sleep 3600 & wait $!; done
"""
"""Mounts that containers can follow; then it takes care of processes that lost their parents."""


@dataclass
class Machine:
    """One node of the cluster; all its files are below the folder, but for the logs, which outlive it."""

    name: str
    number: int
    folder: Path
    cluster: Cluster
    programs: Mapping[str, Path]
    cgroup: str
    processes: Processes = field(init=False)
    first: Process = field(init=False)
    bridge: Process = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        logs = self.folder.with_name(f"logs-{self.name}")
        logs.mkdir()
        self.processes = Processes(logs, grace=3)

    def start(self, bridge: Process, count: int) -> None:
        """Start everything, also for one more time; the node is ready some time later. There are `count` nodes."""
        self._prepare()
        # The program is not known by its usual folder on all machines.
        unshare = Path(shutil.which("unshare") or "")
        parameters = (str(self.folder), str(DISK), configuration.KUBELET)
        self.first = self.processes.start(unshare, [*NAMESPACES, "sh", "-c", _FIRST, "sh", *parameters], name="first")
        self.first.await_ready(self._is_made, SECONDS)
        self.bridge = bridge
        network.join(bridge, self.first, self.number, count)
        containerd = self.run("containerd", f"--config={self.folder / 'containerd.toml'}")
        containerd.await_ready(lambda: self.ctr("version").returncode == 0, SECONDS)

    def _is_made(self) -> bool:
        return self.seen("/run/made").exists()

    def seen(self, path: str) -> Path:
        """A path of the node, for the tests."""
        return Path(f"/proc/{self.first.popen.pid}/root{path}")

    def start_kubelet(self) -> Process:
        """Also for one more time, after it has ended."""
        pair = self.cluster.trust.authority.issue(f"system:node:{self.name}", ("system:nodes",))
        authority = self.cluster.trust.authority.certificate
        config = configuration.kubelet(authority, self.number, self.cgroup)
        return self.run(
            "kubelet",
            f"--config={configuration.write(self.folder / 'kubelet.json', config)}",
            f"--kubeconfig={self.cluster.trust.kubeconfig(pair)}",
            f"--hostname-override={self.name}",
            f"--node-ip={network.node_address(self.number)}",
            f"--root-dir={configuration.KUBELET}",
            f"--cert-dir={configuration.KUBELET}/pki",
        )

    def stop_kubelet(self) -> None:
        """End the kubelet alone: containers go on."""
        self.processes.end("kubelet")

    def start_proxy(self) -> Process:
        """What leads Services to their pods."""
        pair = self.cluster.trust.authority.issue("system:kube-proxy")
        config = configuration.proxy(self.cluster.trust.kubeconfig(pair), self.name)
        return self.run("kube-proxy", f"--config={configuration.write(self.folder / 'proxy.json', config)}")

    def start_csi(self, driver: str) -> Process:
        """The stand-in for the CSI driver of this name; see `tests/tools/csi`."""
        helper = self.client
        helper.parent.mkdir(exist_ok=True)
        if not helper.is_symlink():
            (helper.parent / "juicefs").symlink_to(self.programs["juicefs"])
            helper.symlink_to(self.programs["juicefs"])
        mounts = "/var/lib/juicefs"
        return self.run("csi", f"-name={driver}", f"-node={self.name}", f"-client={helper}", f"-folder={mounts}")

    @property
    def client(self) -> Path:
        """The client acts as a mount helper under this name alone."""
        return self.folder / "juicefs" / "mount.juicefs"

    def _prepare(self) -> None:
        for each in ("var/lib/networks", "var/lib/kubelet", "var/log", "var/cache", "opt/cni/bin"):
            (self.folder / each).mkdir(parents=True, exist_ok=True)
        for name in ("bridge", "host-local", "loopback"):
            shutil.copy(self.programs[name], self.folder / "opt" / "cni" / "bin")
        configuration.write(
            self.folder / "var" / "lib" / "networks" / "pods.conflist", configuration.pod_network(self.number)
        )
        (self.folder / "containerd.toml").write_text(configuration.containerd(), encoding="utf-8")

    def run(self, program: str, *arguments: str) -> Process:
        """Start a program on the node."""
        path = self.programs.get(program) or Path(shutil.which(program) or "")
        enter, *words = self.entering([str(path), *arguments])
        return self.processes.start(Path(enter), words, name=program)

    def entering(self, command: Sequence[str]) -> list[str]:
        """The words of a command that runs on the node."""
        first = self.first.popen.pid
        spaces = ["--net", "--mount", f"--pid=/proc/{first}/ns/pid_for_children"]
        return [shutil.which("nsenter") or "", f"--target={first}", *spaces, *command]

    def ctr(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """One command to containerd, in the kubelet's part of it."""
        command = ["ctr", f"--address={configuration.CONTAINERD}", "--namespace=k8s.io", *arguments]
        return subprocess.run(self.entering(command), capture_output=True, text=True, check=False)

    def load(self, archive: Path) -> None:
        """Give the node an image."""
        done = self.ctr("images", "import", "--snapshotter=overlayfs", str(archive))
        assert done.returncode == 0, done.stderr

    def is_ready(self) -> bool:
        """Reports Ready, and the node controller has taken away all taints."""
        node = self.cluster.admin.find(self.object)
        return node is not None and "Ready" in true_conditions(node) and not node["spec"].get("taints")

    @property
    def object(self) -> Manifest:
        """What names it in the cluster."""
        return ref("v1", "Node", self.name)

    def lose_power(self) -> None:
        """End everything at once. What is on the disk stays; the kubelet's folder is in memory."""
        network.cut(self.bridge, self.number)
        self.processes.end("first")
        self.stop()

    def stop(self) -> None:
        """End all programs, and with the first one all containers."""
        self.processes.stop()
