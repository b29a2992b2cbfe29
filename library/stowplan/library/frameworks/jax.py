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

from collections.abc import Iterator

from stowplan.library.frameworks.api import Plugin
from stowplan.library.frameworks.variables import index_variable, variable
from stowplan.library.manifest import Json

PORT = 29500
"""Port on which the coordinator, a part of the first process, listens: that of Kubeflow Trainer."""

VARIABLES = ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID")


class Jax(Plugin):
    """Variables of a JAX job: the coordinator, the number of pods, and the pod's index.

    The pods wait for each other: processes give up if not all come in five minutes. The coordinator ends all processes
    when one is gone.
    """

    variables = frozenset(VARIABLES)
    several = False

    @property
    def ports(self) -> tuple[int, ...]:
        """The port of the coordinator."""
        return (PORT,)

    def own(self, first: str) -> Iterator[Json]:
        """Yield the variables of each pod. `first` is the DNS name of the first pod, where the coordinator is."""
        address, number, index = VARIABLES
        yield variable(address, f"{first}:{PORT}")
        yield variable(number, str(self.launch.nodes))
        yield index_variable(index)


PLUGIN = Jax
