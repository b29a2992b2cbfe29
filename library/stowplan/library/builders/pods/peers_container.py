"""Init container that holds a training pod back until the other pods of its job have addresses.

It only asks the cluster's name service, so it needs neither a token nor RBAC rights. The job's Service must
publish addresses of pods that are not ready.
"""

from collections.abc import Mapping

from stowplan.library.builders.pods import agent_pod, wait_container
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Hosts, Peer, Role, TrainingGroup
from stowplan.library.manifest import Json
from stowplan.schema.agents.peers import Peers

CONTAINER = "wait-peers"
_COMMAND = ("python", "-m", "stowplan.agents.wait_peers")


def with_peers(template: Json, group: TrainingGroup, role: Role, hosts: Mapping[str, Hosts], site: Site) -> Json:
    """Return a role's pod template with the init container; unchanged if the job's framework asks for none.

    `hosts` are the DNS names of all pods by role. The container comes after the one that waits for a dataset: so pods
    whose peers still wait for a dataset, and servers that do, use up none of its time. It comes before the user's.
    """
    peers = group.framework.peers(group, role)
    if not peers:
        return template
    own = template["spec"].get("initContainers") or ()
    first = sum(1 for each in own if wait_container.is_ours(each))
    init = [*own[:first], _container(_words(group, peers, hosts), site), *own[first:]]
    return {**template, "spec": {**template["spec"], "initContainers": init}}


def is_ours(container: Json) -> bool:
    """Return whether `container` is the init container that `with_peers` adds, not a user's of the same name."""
    return container.get("name") == CONTAINER and container.get("command") == list(_COMMAND)


def _words(group: TrainingGroup, peers: tuple[Peer, ...], hosts: Mapping[str, Hosts]) -> list[str]:
    roles = {role.name: role for role in group.roles}
    return [
        Peers(
            *hosts[peer.role],
            peer.first or roles[peer.role].size,
            roles[peer.role].port if peer.listening else None,
        ).word()
        for peer in peers
    ]


def _container(words: list[str], site: Site) -> Json:
    args = ["--timeout", str(site.platform.engines.peers_timeout_seconds), *words]
    return agent_pod.control(CONTAINER, _COMMAND, site, args=args, env=[*agent_pod.OF_RUN])
