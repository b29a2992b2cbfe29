"""MXNet's parameter server (ps-lite): the variables by which its processes find the scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.library.ir.training import Environment, Framework, Hosts, Peer, Role, TrainingGroup
from stowplan.library.manifest import Json

SCHEDULER = "scheduler"

_ROLE = "DMLC_ROLE"
_ROOT = "DMLC_PS_ROOT_URI"

VARIABLES = (
    "DMLC_PS_ROOT_PORT",
    _ROOT,
    "DMLC_NUM_SERVER",
    "DMLC_NUM_WORKER",
    _ROLE,
    "DMLC_USE_KUBERNETES",
)
"""Variables of every process of a distributed job. The old operator did not set the last one. It makes the scheduler of
releases since 1.2 listen on all addresses. A scheduler of MXNet 1.1 or older, which ignores it, cannot listen on a DNS
name ("bind failed"), so `_ROOT` of the scheduler itself is the address of its pod."""

_OWN_ADDRESS: Json = {"name": _ROOT, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}


@dataclass(frozen=True)
class Mxnet(Framework):
    """Variables of MXNet: `DMLC_*` for a distributed job, none for a local one.

    The scheduler gives each rank once, and never to a process that comes later.
    """

    distributed: bool

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables by role: those of the old operator and `DMLC_USE_KUBERNETES`, or none for a local job.

        The user's variables of these names take precedence. `hosts` are the DNS names of the pods by role.
        """
        if not self.distributed:
            return super().environments(group, hosts)
        roles = {role.name: role for role in group.roles}
        values = {
            "DMLC_PS_ROOT_PORT": str(roles[SCHEDULER].port),
            _ROOT: hosts[SCHEDULER].of(0),
            "DMLC_NUM_SERVER": str(roles["server"].size),
            "DMLC_NUM_WORKER": str(roles["worker"].size),
            _ROLE: "",
            "DMLC_USE_KUBERNETES": "1",
        }
        shared = {name: {"name": name, "value": value} for name, value in values.items()}
        own = {name: {**shared, _ROLE: {"name": _ROLE, "value": name}} for name in roles}
        own[SCHEDULER][_ROOT] = _OWN_ADDRESS
        return {name: Environment((), tuple(variables.values())) for name, variables in own.items()}

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return no roles: servers and workers look for the scheduler until it answers."""
        return ()
