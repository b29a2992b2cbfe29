"""JAX: the address of the coordinator, and what a program passes to `jax.distributed.initialize` itself.

JAX reads `JAX_COORDINATOR_ADDRESS` (`jax/_src/distributed.py`, the same in 0.10 and 0.12). It reads no variable for the
number of processes and for the process's own, so a program begins with

    jax.distributed.initialize(
        num_processes=int(os.environ["JAX_NUM_PROCESSES"]), process_id=int(os.environ["JAX_PROCESS_ID"])
    )

These two names are those of Kubeflow Trainer (`pkg/runtime/framework/plugins/jax`). Each pod has one process, which
uses all devices of the pod. A program whose image has the package `kubernetes` also passes
`cluster_detection_method="deactivate"`: otherwise JAX asks the API server (`jax/_src/clusters/k8s_cluster.py`), and
ends with an error in pods without a token.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stowplan.library.frameworks.api import Launch, Plugin
from stowplan.library.frameworks.variables import index_variable, variable
from stowplan.library.ir.training import Environment, Hosts, Peer, Role, TrainingGroup
from stowplan.library.manifest import Json
from stowplan.schema.platform.platform import Platform

PORT = 29500
"""Port on which the coordinator, a part of the first process, listens: that of Kubeflow Trainer."""

VARIABLES = ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID")


@dataclass(frozen=True, slots=True)
class Jax:
    """Variables of one JAX job. All its pods have one role."""

    launch: Launch
    name: str = "jax"

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables by role: the coordinator, the number of pods, and the pod's index."""
        return {role.name: Environment(tuple(self._variables(hosts[role.name].of(0)))) for role in group.roles}

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return the role itself for a job with several pods: processes give up if not all come in five minutes."""
        return (Peer(role.name),) if group.size > 1 else ()

    def readmits(self, group: TrainingGroup) -> bool:
        """Return False: the coordinator ends all processes when one is gone."""
        return False

    def _variables(self, first: str) -> Iterator[Json]:
        address, number, index = VARIABLES
        yield variable(address, f"{first}:{PORT}")
        yield variable(number, str(self.launch.nodes))
        yield index_variable(index)


def _ports(launch: Launch, platform: Platform) -> tuple[int, ...]:  # noqa: ARG001 - as `Plugin.ports`
    return (PORT,)


def _make(launch: Launch, platform: Platform) -> Jax:  # noqa: ARG001 - as `Plugin.make`
    return Jax(launch)


PLUGIN = Plugin(_make, frozenset(VARIABLES), _ports, several=False)
