"""What the programs of a node are told. Paths are those that the node sees."""

import json
from pathlib import Path

from tests.cluster import container_image
from tests.cluster.client import Manifest
from tests.nightly.node import network

DNS = "10.96.0.10"
DOMAIN = "cluster.local"
CONTAINERD = "/run/containerd/containerd.sock"
KUBELET = "/var/lib/kubelet"
PLUGINS = "/opt/cni/bin"
NETWORKS = "/var/lib/networks"
REGISTRIES = "/var/lib/registries"
"""A folder for each registry that is not reached by HTTPS."""


def containerd() -> str:
    """TOML. Snapshots are overlays, since the images of agents have a Python each."""
    return f"""\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "{CONTAINERD}"
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{container_image.NAME}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{REGISTRIES}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{PLUGINS}"
    conf_dir = "{NETWORKS}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
"""


def pod_network(number: int) -> Manifest:
    """A bridge on each node; the others' pods are reached by routes."""
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": network.pod_subnet(number)}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": "/run/cni",
    }
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True, "hairpinMode": True, "ipam": addresses}
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge]}


def kubelet(authority: Path, number: int, cgroup: str) -> Manifest:
    """A kubelet as clusters have it; it takes any version of cgroups, swap, and a disk for images that is nearly full.

    Of its own disk it wants as much free as by default, but it forgets a pressure sooner than after five minutes.
    """
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": network.node_address(number),
        "healthzPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": str(authority)},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": cgroup,
        "clusterDNS": [DNS],
        "clusterDomain": DOMAIN,
        "containerRuntimeEndpoint": f"unix://{CONTAINERD}",
        "evictionHard": {"memory.available": "1Mi", "nodefs.available": "10%"},
        "evictionPressureTransitionPeriod": "20s",
        "failCgroupV1": False,
        "failSwapOn": False,
        "imageGCHighThresholdPercent": 100,
        # Else an image that was loaded must be pulled once the same one has been pulled by another name.
        "imagePullCredentialsVerificationPolicy": "NeverVerify",
        "resolvConf": "",
    }


def proxy(kubeconfig: Path, name: str) -> Manifest:
    """Pods get the answers of a Service's pod on their own bridge only if they seem to come from the node."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        "hostnameOverride": name,
        "clusterCIDR": network.pods(),
        "nftables": {"masqueradeAll": True},
        "conntrack": {"maxPerCore": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }


def write(path: Path, value: Manifest) -> Path:
    """JSON, which is YAML."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
