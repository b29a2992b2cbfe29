"""PyTorch: the variables that `torchrun` reads, and those of `env://` for programs without a launcher.

`torchrun` takes each of its flags from a variable `PET_<FLAG>` too (`torch/distributed/argparse_util.py`). It sets the
variables of `env://` anew for the processes that it starts, so they may be there in any case.
"""

from collections.abc import Iterator

from stowplan.library.frameworks.api import WRONG_COMMAND, Plugin
from stowplan.library.frameworks.neutral import RUN
from stowplan.library.frameworks.variables import index_variable, variable
from stowplan.library.ir.training import RESTARTS, Peer, Role, TrainingGroup
from stowplan.library.manifest import Json

PORT = 29500
"""Default of `--master-port`: the port on which the first process listens."""

RENDEZVOUS_PORT = 29400
"""Default port of the rendezvous `c10d`, by which the launchers of an elastic job find each other."""

_SEPARATE_STORES = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
"""Read by launchers since 2.4. Otherwise a pod that comes later waits in vain for an address that the first launcher
writes only once, and all end: seen on 2.15."""

_OF_LAUNCHER = ("PET_NNODES", "PET_NPROC_PER_NODE")
_STATIC = ("PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT", "MASTER_ADDR", "MASTER_PORT", "NODE_RANK")
_SINGLE = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
_ELASTIC = ("PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT", "PET_RDZV_ID", "PET_MAX_RESTARTS", _SEPARATE_STORES)


class Torch(Plugin):
    """Variables of a PyTorch job: those of `torchrun`, and for a job of fixed size those of `env://`."""

    variables = frozenset((*_OF_LAUNCHER, *_STATIC, *_SINGLE, *_ELASTIC))
    elastic = True
    final = WRONG_COMMAND
    bereft = 1
    """`torchrun` ends with 1 on all nodes when one is lost, as it does after an error of the program."""

    @property
    def ports(self) -> tuple[int, ...]:
        """The port of the first process, or of the rendezvous of an elastic job."""
        return (RENDEZVOUS_PORT,) if self.launch.bounds else (PORT,)

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return the role itself for a job with several pods: without a launcher, a program looks up the first once.

        The pods of an elastic job wait for the first alone. It hosts the rendezvous, and only knows this if its own
        name has an address.
        """
        if self.launch.bounds:
            return (Peer(role.name, first=1),)
        return (Peer(role.name),) if role.size > 1 else ()

    def own(self, first: str) -> Iterator[Json]:
        """Yield the variables of each pod. `first` is the DNS name of the first pod, where the processes meet."""
        bounds = self.launch.bounds
        yield variable("PET_NNODES", f"{bounds.least}:{bounds.most}" if bounds else str(self.launch.nodes))
        yield variable("PET_NPROC_PER_NODE", str(self.launch.processes))
        yield from _elastic(first) if bounds else self._static(first)

    def _static(self, first: str) -> Iterator[Json]:
        yield index_variable("PET_NODE_RANK")
        yield variable("PET_MASTER_ADDR", first)
        yield variable("PET_MASTER_PORT", str(PORT))
        yield variable("MASTER_ADDR", first)
        yield variable("MASTER_PORT", str(PORT))
        yield index_variable("NODE_RANK")
        if self.launch.processes == 1:
            yield variable("WORLD_SIZE", str(self.launch.nodes))
            yield index_variable("RANK")
            yield variable("LOCAL_RANK", "0")
            yield variable("LOCAL_WORLD_SIZE", "1")


def _elastic(first: str) -> Iterator[Json]:
    """Yield the variables of the rendezvous. `first` is the DNS name of the pod that hosts it."""
    yield variable("PET_RDZV_BACKEND", "c10d")
    yield variable("PET_RDZV_ENDPOINT", f"{first}:{RENDEZVOUS_PORT}")
    yield variable("PET_RDZV_ID", f"$({RUN})")
    # The processes of all pods restart when one pod is gone, and with the default of 0 the launchers end instead.
    yield variable("PET_MAX_RESTARTS", str(RESTARTS))
    yield variable(_SEPARATE_STORES, "1")


PLUGIN = Torch
