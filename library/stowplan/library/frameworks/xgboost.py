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

from collections.abc import Iterator

from stowplan.library.frameworks.api import Plugin
from stowplan.library.frameworks.variables import index_variable, variable
from stowplan.library.ir.training import Peer, Role, TrainingGroup
from stowplan.library.manifest import Json

PORT = 29500
"""Port on which the tracker listens: that of Kubeflow Trainer."""

VARIABLES = ("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_NUM_WORKER", "DMLC_TASK_ID")


class Xgboost(Plugin):
    """Variables of an XGBoost job: the tracker, the number of workers in all pods, and the pod's index.

    The tracker gives each task its rank once, and workers end when one is gone.
    """

    variables = frozenset(VARIABLES)
    bereft = 1

    @property
    def ports(self) -> tuple[int, ...]:
        """The port of the tracker."""
        return (PORT,)

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return the role itself: workers look up the tracker's name only once, the first pod its own."""
        return (Peer(role.name),)

    def own(self, first: str) -> Iterator[Json]:
        """Yield the variables of each pod. `first` is the DNS name of the first pod, where the tracker is."""
        address, port, number, index = VARIABLES
        yield variable(address, first)
        yield variable(port, str(PORT))
        yield variable(number, str(self.launch.nodes * self.launch.processes))
        yield index_variable(index)


PLUGIN = Xgboost
