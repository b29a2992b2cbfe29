"""The variables `STOWPLAN_*` that the processes of a Training have with every framework.

Precedents are `DSTACK_*` of dstack and `SKYPILOT_*` of SkyPilot: with them, arguments such as
`--machine_rank=$(STOWPLAN_NODE_RANK)` start any launcher.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stowplan.library.frameworks.api import Launch
from stowplan.library.frameworks.variables import field_variable, index_variable, variable
from stowplan.library.ir.training import Environment, Framework, Hosts, Peer, Role, TrainingGroup
from stowplan.library.manifest import Json
from stowplan.library.values import labels

RUN = "STOWPLAN_RUN"
ATTEMPT = "STOWPLAN_ATTEMPT"
NODE_RANK = "STOWPLAN_NODE_RANK"
NUM_NODES = "STOWPLAN_NUM_NODES"
HOSTS = "STOWPLAN_HOSTS"
CHECKPOINTS = "STOWPLAN_CHECKPOINT_DIR"
CODE_DIR = "STOWPLAN_CODE_DIR"

VARIABLES = frozenset({RUN, ATTEMPT, NODE_RANK, NUM_NODES, HOSTS})
"""The names that every job has, besides those of its checkpoints, its code and its datasets."""

_NO_WORD = re.compile(r"[^A-Z0-9]")


def dataset_variable(name: str) -> str:
    """Return the variable with the mount path of a dataset: `STOWPLAN_DATASET_C4_EN` for `c4-en` and for `c4.en`."""
    return f"STOWPLAN_DATASET_{_NO_WORD.sub('_', name.upper())}"


@dataclass(frozen=True, slots=True)
class Neutral(Framework):
    """Puts the `STOWPLAN_*` variables of every Training before the framework's, which may refer to them by `$(NAME)`.

    `datasets` are the mount paths by the names of the datasets. `attempts` is the label of the pods that counts the
    restarts of the whole job; None if nothing restarts it. `checkpoints` is the directory of the job's checkpoints;
    None if it has none. `code` is where its code is mounted; None without.
    """

    framework: Framework
    launch: Launch
    datasets: Mapping[str, str]
    attempts: str | None = None
    checkpoints: str | None = None
    code: str | None = None

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables by role: those of all jobs, and then the framework's. `hosts` are DNS names by role."""
        own = self.framework.environments(group, hosts)
        return {
            role.name: Environment((*self._variables(hosts[role.name]), *own[role.name].fixed), own[role.name].defaults)
            for role in group.roles
        }

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return the roles for whose pods those of `role` wait: what the framework returns."""
        return self.framework.peers(group, role)

    def readmits(self, group: TrainingGroup) -> bool:
        """Return whether a new process may take the place of one that died: what the framework returns."""
        return self.framework.readmits(group)

    def _variables(self, hosts: Hosts) -> Iterator[Json]:
        """Yield the variables. Of an elastic job, number and hosts are those of the most pods that it may have."""
        nodes, bounds = self.launch.nodes, self.launch.bounds
        yield field_variable(RUN, f"metadata.labels['{labels.RUN_HASH}']")
        if self.attempts:
            yield field_variable(ATTEMPT, f"metadata.labels['{self.attempts}']")
        else:
            yield variable(ATTEMPT, "0")
        yield index_variable(NODE_RANK)
        yield variable(NUM_NODES, f"{bounds.least}:{bounds.most}" if bounds else str(nodes))
        yield variable(HOSTS, ",".join([hosts.of(index) for index in range(bounds.most if bounds else nodes)]))
        if self.checkpoints:
            yield variable(CHECKPOINTS, self.checkpoints)
        if self.code:
            yield variable(CODE_DIR, self.code)
        for name, path in sorted(self.datasets.items()):
            yield variable(dataset_variable(name), path)
