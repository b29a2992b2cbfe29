"""MXNet's parameter server (ps-lite): the variables by which its processes find the scheduler."""

from collections.abc import Mapping

from stowplan.library.training import Environment, Hosts, Role, TrainingGroup
from stowplan.schema.records import dataclass

SCHEDULER = "scheduler"

VARIABLES = (
    "DMLC_PS_ROOT_PORT",
    "DMLC_PS_ROOT_URI",
    "DMLC_NUM_SERVER",
    "DMLC_NUM_WORKER",
    "DMLC_ROLE",
    "DMLC_USE_KUBERNETES",
)
"""What every process of a distributed job is told. By the last one, which the old operator did not know, the scheduler
of newer releases listens on all addresses: it would take the name that it is found by for an address of its own."""


@dataclass(frozen=True, slots=True)
class Mxnet:
    """A distributed job has `DMLC_*`, a local one nothing. Ranks are given out by the scheduler."""

    distributed: bool
    name: str = "mxnet"

    def environment(self, group: TrainingGroup, role: Role, hosts: Mapping[str, Hosts]) -> Environment:
        """The variables of the old operator, and one more. A user's own of these names stay as they are."""
        if not self.distributed:
            return Environment(())
        roles = {each.name: each for each in group.roles}
        values = (
            str(roles[SCHEDULER].port),
            hosts[SCHEDULER].of(0),
            str(roles["server"].size),
            str(roles["worker"].size),
            role.name,
            "1",
        )
        pairs = zip(VARIABLES, values, strict=True)
        return Environment((), tuple([{"name": name, "value": value} for name, value in pairs]))
