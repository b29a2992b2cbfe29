"""MXNet's parameter server (ps-lite): the variables by which its processes find the scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.library.training import Environment, Hosts, Role, TrainingGroup

SCHEDULER = "scheduler"


@dataclass(frozen=True, slots=True)
class Mxnet:
    """A distributed job has `DMLC_*`, a local one nothing. Ranks are given out by the scheduler."""

    distributed: bool
    name: str = "mxnet"

    def environment(self, group: TrainingGroup, role: Role, hosts: Mapping[str, Hosts]) -> Environment:
        """The five variables of the old operator. A user's own of these names stay as they are."""
        if not self.distributed:
            return Environment(())
        sizes = {each.name: each.size for each in group.roles}
        scheduler = next(each for each in group.roles if each.name == SCHEDULER)
        pairs = (
            ("DMLC_PS_ROOT_PORT", str(scheduler.port)),
            ("DMLC_PS_ROOT_URI", hosts[SCHEDULER].of(0)),
            ("DMLC_NUM_SERVER", str(sizes["server"])),
            ("DMLC_NUM_WORKER", str(sizes["worker"])),
            ("DMLC_ROLE", role.name),
        )
        return Environment((), tuple({"name": name, "value": value} for name, value in pairs))
