"""A Kubernetes control plane as processes on loopback, with fake nodes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster import components, nodes
from tests.cluster.certificates import LOOPBACK, Authority
from tests.cluster.client import Client, Manifest, ref, wait_for
from tests.cluster.identities import Trust
from tests.cluster.processes import Processes, free_port

_MANAGER = "harness"


@dataclass(frozen=True)
class Cluster:
    """A running control plane. `admin` may do anything; other identities come from the methods."""

    version: str
    """What the API server reports as gitVersion."""
    trust: Trust
    processes: Processes
    admin: Client
    _clients: list[Client] = field(default_factory=list)

    @property
    def kubeconfig(self) -> Path:
        """Of the admin, for programs that want a file."""
        return self.trust.authority.folder / "admin.kubeconfig"

    def client_for_service_account(self, namespace: str, name: str) -> Client:
        """A client with a bound token of the ServiceAccount, from the TokenRequest API."""
        request: Manifest = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600},
        }
        path = self.admin.path(ref("v1", "ServiceAccount", name, namespace), "token")
        token = self.admin.request("POST", path, request)["status"]["token"]
        return self._keep(Client.connect(self.trust.server, self.trust.context(), token))

    def client_for_node(self, name: str) -> Client:
        """A client with the identity of a kubelet, as the Node authorizer knows it."""
        pair = self.trust.authority.issue(f"system:node:{name}", ("system:nodes",))
        return self._keep(Client.connect(self.trust.server, self.trust.context(pair)))

    def namespace(self, name: str, pod_security: str = "restricted") -> str:
        """Let a namespace, old or new, enforce a pod security level; gives its name once it can hold pods."""
        manifest = ref("v1", "Namespace", name)
        manifest["metadata"]["labels"] = {"pod-security.kubernetes.io/enforce": pod_security}
        self.admin.apply(manifest, manager=_MANAGER)
        _await_service_account(self.admin, name)
        return name

    def release_namespace(self, name: str) -> None:
        """Give up the level, so that the next sync that brings the namespace along owns it alone."""
        self.admin.apply(ref("v1", "Namespace", name), manager=_MANAGER)

    def restart_server(self) -> None:
        """End the API server and start it again; all others go on without it meanwhile."""
        (server,) = (each for each in self.processes.running if each.name == "kube-apiserver")
        again = self.processes.restart(server)
        again.await_ready(lambda: components.is_ready(self.admin), 60)

    def close(self) -> None:
        """Close the connections of all clients."""
        for client in (self.admin, *self._clients):
            client.close()

    def _keep(self, client: Client) -> Client:
        self._clients.append(client)
        return client


@contextmanager
def running(programs: Mapping[str, Path], folder: Path, addresses: tuple[str, ...] = (LOOPBACK,)) -> Iterator[Cluster]:
    """Start everything, give the cluster once its nodes are ready, and stop everything whatever happened.

    The folder gets the certificates, kubeconfigs, data and one log per program. The API server listens on the first of
    the addresses; by the others it is called too. Nodes are played if KWOK is among the programs.
    """
    processes = Processes(folder)
    try:
        trust = Trust(Authority.create(folder / "pki", addresses), addresses[0], free_port())
        etcd = components.start_etcd(processes, programs["etcd"], trust, folder / "etcd")
        admin = components.start_api_server(processes, programs["kube-apiserver"], trust, etcd)
        components.start_controllers(processes, programs, trust)
        if "kwok" in programs:
            kwok = trust.kubeconfig(trust.authority.issue("kwok", ("system:masters",)))
            nodes.start(processes, programs["kwok"], kwok, admin)
            wait_for(lambda: nodes.ready(admin), what="ready nodes")
        _await_service_account(admin, "default")
        version = admin.request("GET", "/version")["gitVersion"]
        cluster = Cluster(version, trust, processes, admin)
        try:
            yield cluster
        finally:
            cluster.close()
    finally:
        processes.stop()


def _await_service_account(client: Client, namespace: str) -> None:
    """The controller manager makes it; the API server refuses pods before."""
    account = ref("v1", "ServiceAccount", "default", namespace)
    wait_for(lambda: client.find(account), what=f"ServiceAccount default of {namespace}")
