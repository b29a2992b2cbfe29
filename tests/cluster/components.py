"""The components of the control plane and their command-line options."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

import httpx

from tests.cluster.certificates import LOOPBACK
from tests.cluster.client import Client
from tests.cluster.identities import Trust
from tests.cluster.processes import Processes, free_port, listens

ISSUER = "https://kubernetes.default.svc"
"""Of ServiceAccount tokens; a name only, nobody fetches it here."""

SERVICES = "10.96.0.0/16"
"""Addresses of Services. Without a node that is real nobody answers there."""

_SIGNING_KEY = "service-account"


def start_etcd(processes: Processes, program: Path, trust: Trust, folder: Path) -> str:
    """Run etcd, which asks for client certificates, without syncs to disk; gives its URL."""
    port, peer = free_port(), free_port()
    url, peer_url = f"https://127.0.0.1:{port}", f"http://127.0.0.1:{peer}"
    pair = trust.authority.issue("etcd")
    process = processes.start(
        program,
        [
            f"--data-dir={folder}",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=default={peer_url}",
            f"--cert-file={pair.certificate}",
            f"--key-file={pair.key}",
            f"--trusted-ca-file={trust.authority.certificate}",
            "--client-cert-auth",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ],
    )
    process.await_ready(lambda: listens(port), 20)
    return url


def start_api_server(processes: Processes, program: Path, trust: Trust, etcd: str) -> Client:
    """Run the API server as clusters do: RBAC, Node authorization, bound tokens, PodSecurity (on by default).

    It listens where the trust says. Gives a client of group `system:masters`, which RBAC lets do anything.
    """
    serving, caller, to_kubelets = (
        trust.authority.issue("kube-apiserver"),
        trust.authority.issue("kube-apiserver-etcd-client"),
        trust.authority.issue("kube-apiserver-kubelet-client", ("system:masters",)),
    )
    signing_key = trust.authority.signing_key(_SIGNING_KEY)
    process = processes.start(
        program,
        [
            f"--bind-address={trust.address}",
            f"--advertise-address={trust.address}",
            f"--secure-port={trust.port}",
            f"--tls-cert-file={serving.certificate}",
            f"--tls-private-key-file={serving.key}",
            f"--client-ca-file={trust.authority.certificate}",
            f"--etcd-servers={etcd}",
            f"--etcd-cafile={trust.authority.certificate}",
            f"--etcd-certfile={caller.certificate}",
            f"--etcd-keyfile={caller.key}",
            f"--requestheader-client-ca-file={trust.authority.certificate}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            f"--kubelet-client-certificate={to_kubelets.certificate}",
            f"--kubelet-client-key={to_kubelets.key}",
            # The names of nodes mean nothing to this machine.
            "--kubelet-preferred-address-types=InternalIP",
            f"--service-cluster-ip-range={SERVICES}",
            f"--service-account-issuer={ISSUER}",
            f"--service-account-key-file={signing_key}",
            f"--service-account-signing-key-file={signing_key}",
            # The reconciler refuses to publish a loopback address as endpoint of the service `kubernetes`.
            f"--endpoint-reconciler-type={'none' if trust.address == LOOPBACK else 'lease'}",
        ],
    )
    pair = trust.authority.issue("admin", ("system:masters",))
    trust.kubeconfig(pair)
    client = Client.connect(trust.server, trust.context(pair))
    process.await_ready(lambda: is_ready(client), 60)
    return client


def is_ready(client: Client) -> bool:
    """Whether the API server answers and has all that it needs."""
    with contextlib.suppress(httpx.TransportError):
        return client.http.get("/readyz").is_success
    return False


def start_controllers(processes: Processes, programs: Mapping[str, Path], trust: Trust) -> None:
    """Run the controller manager, each controller with its own ServiceAccount, and the scheduler."""
    common = [
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]
    for name in ("kube-controller-manager", "kube-scheduler"):
        config = trust.kubeconfig(trust.authority.issue(f"system:{name}"))
        arguments = [
            *common,
            f"--kubeconfig={config}",
            f"--authentication-kubeconfig={config}",
            f"--authorization-kubeconfig={config}",
            f"--secure-port={free_port()}",
        ]
        if name == "kube-controller-manager":
            arguments += [
                f"--service-account-private-key-file={trust.authority.folder / _SIGNING_KEY}.key",
                f"--root-ca-file={trust.authority.certificate}",
                "--use-service-account-credentials=true",
                "--node-monitor-grace-period=50s",
                # A claim that it sees before its volume waits for the next round; the default is 15 s.
                "--pvclaimbinder-sync-period=1s",
                # Its default is a system folder, which it would make.
                f"--flex-volume-plugin-dir={processes.logs / 'flex-volumes'}",
            ]
        processes.start(programs[name], arguments)
