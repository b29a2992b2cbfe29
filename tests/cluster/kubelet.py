"""A real node: kubelet with containerd and runc, in separate namespaces.

Both see only their own processes and mounts, so nothing of them outlives the tests: when the first process of the
namespace dies, the kernel kills the rest, including containers and their shims, and drops the mounts.
"""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster import container_image
from tests.cluster.client import Manifest, ref, true_conditions
from tests.cluster.control_plane import Cluster
from tests.cluster.processes import Process, Processes, StartError, free_port

NAME = "real"
TAINT = "stowplan.dev/real-node"
"""Keeps the pods of other tests off the node."""
SECONDS = 300
"""How long to wait for the node to do something, on a machine that others use too."""

CGROUPS = Path("/sys/fs/cgroup")

_PROGRAMS = ("busybox", "containerd", "containerd-shim-runc-v2", "ctr", "runc", "unshare")
_NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
_CANNOT_RUN = 3
_START = f"""
for folder in /run /var/lib/kubelet /var/log; do mkdir -p $folder && mount -t tmpfs tmpfs $folder || exit 1; done
export CONTAINERD_ADDRESS="$3" CONTAINERD_NAMESPACE=k8s.io
containerd --config "$1" >"$2" 2>&1 &
while ! ctr version >/dev/null 2>&1; do kill -0 $! || exit 1; busybox sleep 0.2; done
ctr images import "$4" || exit 1
ctr run --rm --snapshotter=native {container_image.NAME} first /bin/true || exit {_CANNOT_RUN}
shift 4
exec "$@"
"""
"""Runs containerd ($1 its configuration, $2 its log, $3 its socket), gives it the image $4, runs a first container, and
becomes the kubelet. What the programs write to fixed places goes to folders that only they see."""


class CannotRunError(Exception):
    """Containers do not run on this machine; the text says why."""


def obstacle() -> str | None:
    """Why no kubelet can run on this machine; None if nothing is known to be in the way."""
    if os.name != "posix" or os.geteuid() != 0:
        return "a kubelet needs root"
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"a kubelet needs {', '.join(missing)} (Debian: containerd runc busybox-static util-linux)"
    done = subprocess.run(["unshare", *_NAMESPACES, "true"], capture_output=True, text=True, check=False)
    return f"namespaces cannot be made here: {done.stderr.strip()}" if done.returncode else None


@contextmanager
def running(cluster: Cluster, program: Path, folder: Path) -> Iterator[Process]:
    """Run a node until the block ends, and take it out of the cluster then. The folder gets all its files.

    CannotRunError if containerd starts but a first container does not.
    """
    processes = Processes(folder, grace=10)
    try:
        process = _start(processes, cluster, program, folder)
        try:
            process.await_ready(lambda: _is_ready(cluster), SECONDS)
        except StartError:
            if process.popen.poll() == _CANNOT_RUN:
                raise CannotRunError(process.tail()) from None
            raise
        yield process
    finally:
        processes.stop()
        _remove_cgroups()
        if cluster.admin.find(_node()):
            cluster.admin.delete(_node())


def _start(processes: Processes, cluster: Cluster, program: Path, folder: Path) -> Process:
    image = folder / "image.tar"
    container_image.write(Path(shutil.which("busybox") or ""), image)
    socket = folder / "containerd.sock"
    containerd = folder / "containerd.toml"
    containerd.write_text(_containerd(folder, socket), encoding="utf-8")
    config = folder / "kubelet.json"
    config.write_text(json.dumps(_configuration(cluster, folder, socket)), encoding="utf-8")
    pair = cluster.trust.authority.issue(f"system:node:{NAME}", ("system:nodes",))
    kubelet = [
        f"--config={config}",
        f"--kubeconfig={cluster.trust.kubeconfig(pair)}",
        f"--hostname-override={NAME}",
        # It warns that a loopback address is no node address; pods in the host's network get it all the same.
        "--node-ip=127.0.0.1",
        f"--root-dir={folder / 'kubelet'}",
        f"--cert-dir={folder / 'pki'}",
    ]
    files = [containerd, folder / "containerd.log", socket, image]
    start = ["sh", "-c", _START, "sh", *map(str, files), str(program)]
    unshare = Path(shutil.which("unshare") or "")
    return processes.start(unshare, [*_NAMESPACES, *start, *kubelet], name="kubelet")


def _containerd(folder: Path, socket: Path) -> str:
    """The snapshotter that works on every file system; a network that is there in name, for the node to be ready."""
    network = folder / "network"
    network.mkdir()
    conflist: Manifest = {"cniVersion": "0.4.0", "name": "none", "plugins": [{"type": "loopback"}]}
    (network / "none.conflist").write_text(json.dumps(conflist), encoding="utf-8")
    return f"""\
version = 2
root = "{folder / "containerd"}"
state = "{folder / "containerd-state"}"
[grpc]
  address = "{socket}"
[ttrpc]
  address = "{socket}.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder / "opt"}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{container_image.NAME}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{network}"
    conf_dir = "{network}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
"""


def _configuration(cluster: Cluster, folder: Path, socket: Path) -> Manifest:
    """A kubelet that takes the machine as it is: swap, any version of cgroups, full disks, no cgroup per pod."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "127.0.0.1",
        "port": free_port(),
        "healthzPort": 0,
        "readOnlyPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": str(cluster.trust.authority.certificate)},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "registerWithTaints": [{"key": TAINT, "effect": "NoSchedule"}],
        "containerRuntimeEndpoint": f"unix://{socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "evictionHard": {"memory.available": "1Mi"},
        "failCgroupV1": False,
        "failSwapOn": False,
        "localStorageCapacityIsolation": False,
        "podLogsDir": str(folder / "pod-logs"),
        "resolvConf": "",
        "volumePluginDir": str(folder / "volume-plugins"),
    }


def _remove_cgroups() -> None:
    """Those that containerd puts its containers into, where they are empty: nothing else does it."""
    for path in (CGROUPS / "k8s.io", *CGROUPS.glob("*/k8s.io")):
        with contextlib.suppress(OSError):
            path.rmdir()


def _is_ready(cluster: Cluster) -> bool:
    """Reports Ready, and the node controller has taken away all taints but ours."""
    node = cluster.admin.find(_node())
    return (
        node is not None
        and "Ready" in true_conditions(node)
        and [taint["key"] for taint in node["spec"].get("taints", [])] == [TAINT]
    )


def _node() -> Manifest:
    return ref("v1", "Node", NAME)
