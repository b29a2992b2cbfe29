"""MXNet's parameter server (ps-lite): the variables by which its processes find the scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.library.ir.training import Environment, Hosts, TrainingGroup

SCHEDULER = "scheduler"

_ROLE = "DMLC_ROLE"

VARIABLES = (
    "DMLC_PS_ROOT_PORT",
    "DMLC_PS_ROOT_URI",
    "DMLC_NUM_SERVER",
    "DMLC_NUM_WORKER",
    _ROLE,
    "DMLC_USE_KUBERNETES",
)
"""Variables of every process of a distributed job. The old operator did not set the last one. It makes the scheduler of
newer releases listen on all addresses; otherwise the scheduler would take its DNS name for a local address."""


@dataclass(frozen=True, slots=True)
class Mxnet:
    """Variables of MXNet: `DMLC_*` for a distributed job, none for a local one. The scheduler assigns ranks."""

    distributed: bool
    name: str = "mxnet"

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables by role: those of the old operator and `DMLC_USE_KUBERNETES`, or none for a local job.

        The user's variables of these names take precedence.
        """
        if not self.distributed:
            return {role.name: Environment(()) for role in group.roles}
        roles = {role.name: role for role in group.roles}
        values = {
            "DMLC_PS_ROOT_PORT": str(roles[SCHEDULER].port),
            "DMLC_PS_ROOT_URI": hosts[SCHEDULER].of(0),
            "DMLC_NUM_SERVER": str(roles["server"].size),
            "DMLC_NUM_WORKER": str(roles["worker"].size),
            _ROLE: "",
            "DMLC_USE_KUBERNETES": "1",
        }
        shared = {name: {"name": name, "value": value} for name, value in values.items()}
        return {
            name: Environment((), tuple({**shared, _ROLE: {"name": _ROLE, "value": name}}.values())) for name in roles
        }
