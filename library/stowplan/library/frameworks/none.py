"""No framework: a program that finds its peers by the variables `STOWPLAN_*`, or that needs none."""

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.library.frameworks.api import WRONG_COMMAND, Launch, Plugin
from stowplan.library.ir.training import Environment, Hosts, Peer, Role, TrainingGroup
from stowplan.schema.platform.platform import Platform


@dataclass(frozen=True, slots=True)
class NoFramework:
    """Adds no variables to those that all jobs have."""

    name: str = "none"

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return no variables for each role."""
        return {role.name: Environment(()) for role in group.roles}

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return the role itself for a job with several pods: an unknown program may look up a name only once."""
        return (Peer(role.name),) if group.size > 1 else ()

    def readmits(self, group: TrainingGroup) -> bool:
        """Return False: an unknown program may wait for ever for a process that is gone."""
        return False


def _make(launch: Launch, platform: Platform) -> NoFramework:  # noqa: ARG001 - as `Plugin.make`
    return NoFramework()


PLUGIN = Plugin(_make, final=WRONG_COMMAND)
"""Its program may be any launcher, also `torchrun`, so its other exit codes say nothing."""
