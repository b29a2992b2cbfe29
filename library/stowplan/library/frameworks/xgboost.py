"""XGBoost: the address of the tracker, by which the workers of a collective find each other.

Names and values are those of Kubeflow Trainer (`pkg/runtime/framework/plugins/xgboost`). XGBoost reads none of them:
without arguments each process trains alone, silently (seen with 3.4), so a program passes them on. The first pod starts
the tracker, and workers try again while it is not there yet:

    host, port = os.environ["DMLC_TRACKER_URI"], int(os.environ["DMLC_TRACKER_PORT"])
    task, number = os.environ["DMLC_TASK_ID"], int(os.environ["DMLC_NUM_WORKER"])
    if task == "0":
        tracker = RabitTracker(n_workers=number, host_ip=host, port=port, sortby="task")
        tracker.start()
    with CommunicatorContext(dmlc_tracker_uri=host, dmlc_tracker_port=port, dmlc_task_id=task, dmlc_retry=30):
        ...

With several processes in each pod, each passes a task of its own: `DMLC_TASK_ID` times their number, and its place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stowplan.library.frameworks.api import Launch, Plugin
from stowplan.library.frameworks.variables import index_variable, variable
from stowplan.library.ir.training import Environment, Hosts, Peer, Role, TrainingGroup
from stowplan.library.manifest import Json
from stowplan.schema.platform.platform import Platform

PORT = 29500
"""Port on which the tracker listens: that of Kubeflow Trainer."""

VARIABLES = ("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_NUM_WORKER", "DMLC_TASK_ID")


@dataclass(frozen=True, slots=True)
class Xgboost:
    """Variables of one XGBoost job. All its pods have one role."""

    launch: Launch
    name: str = "xgboost"

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables by role: the tracker, the number of workers in all pods, and the pod's index."""
        return {role.name: Environment(tuple(self._variables(hosts[role.name].of(0)))) for role in group.roles}

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return the role itself: workers look up the tracker's name only once, the first pod its own."""
        return (Peer(role.name),)

    def readmits(self, group: TrainingGroup) -> bool:
        """Return False: the tracker gives each task its rank once, and workers end when one is gone."""
        return False

    def _variables(self, first: str) -> Iterator[Json]:
        address, port, number, index = VARIABLES
        yield variable(address, first)
        yield variable(port, str(PORT))
        yield variable(number, str(self.launch.nodes * self.launch.processes))
        yield index_variable(index)


def _ports(launch: Launch, platform: Platform) -> tuple[int, ...]:  # noqa: ARG001 - as `Plugin.ports`
    return (PORT,)


def _make(launch: Launch, platform: Platform) -> Xgboost:  # noqa: ARG001 - as `Plugin.make`
    return Xgboost(launch)


PLUGIN = Plugin(_make, frozenset(VARIABLES), _ports, bereft=1)
