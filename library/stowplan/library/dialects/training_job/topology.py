"""The topology of a TrainingJob: its roles, their sizes, and their ports."""

from dataclasses import dataclass
from typing import Literal

from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.schema.kinds.training_job import ServerRole, TrainingJob, TrainingJobSpec
from stowplan.schema.platform.platform import Platform

Topology = Literal["local", "collective", "ps"]

PORT = 7164
"""Default of `port`. As in the old operator, 0 selects the default, here and in other fields."""

FRAMEWORKS = ("paddle", "tensorflow")
TYPES: dict[str, Topology] = {"local": "local", "multi": "ps", "nccl2": "collective"}
"""Values of `frame_work`, and the topology of each type."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes and ports of the roles. The job leaves out a role without pods.

    `minimum` is the smallest size of an elastic job, `trainers` its largest.
    """

    topology: Topology
    master: bool
    own_etcd: bool
    servers: int
    trainers: int
    minimum: int | None
    server_ports: range
    trainer_ports: range
    on_host_network: frozenset[str]

    def on_host(self, role: str) -> bool:
        """Whether the role's pods share the network of their nodes."""
        return role in self.on_host_network


def topology(spec: TrainingJobSpec) -> Topology:
    """The topology, from `frame_work` if given, else from `local_job` and `is_nccl`, in this order."""
    if spec.frame_work is not None:
        return TYPES.get(spec.frame_work.type or "", "ps")
    if spec.local_job:
        return "local"
    return "collective" if spec.is_nccl else "ps"


def instances(role: ServerRole | None) -> tuple[int, int]:
    """Smallest and largest number of pods. The largest defaults to the smallest."""
    least = role.min_instance or 0 if role else 0
    return least, role.max_instance or least if role else 0


def may_grow(model: TrainingJob) -> bool:
    """Whether the job names a range for the number of its trainers."""
    least, most = instances(model.spec.trainer)
    return topology(model.spec) != "local" and 0 < least < most


def is_elastic(model: TrainingJob, platform: Platform) -> bool:
    """Whether trainers may come and go: the job is fault-tolerant, and the queue admits as many pods as fit."""
    return may_grow(model) and bool(model.spec.fault_tolerant) and GANG_ENGINES[platform.engines.gang].resizes


def scheduler(spec: TrainingJobSpec) -> str | None:
    """The scheduler that the job names for all of its pods."""
    return (spec.annotations.scheduler if spec.annotations else None) or spec.scheduler_name or None


def own_ports(spec: TrainingJobSpec) -> bool:
    """Whether trainers listen on separate ports, from `trainer_port` on."""
    work = spec.frame_work
    return work is not None and (work.type == "nccl2" or (work.type == "multi" and work.name == "tensorflow"))


def shape(model: TrainingJob, platform: Platform) -> Shape:
    """The shape on this platform. A job that cannot be elastic here has its smallest size."""
    spec = model.spec
    kind = topology(spec)
    least, most = instances(spec.trainer)
    elastic = is_elastic(model, platform)
    return Shape(
        topology=kind,
        master=bool(spec.fault_tolerant),
        own_etcd=not (spec.master and spec.master.etcd_endpoint),
        servers=instances(spec.pserver)[0] if kind == "ps" else 0,
        trainers=1 if kind == "local" else most if elastic else least,
        minimum=least if elastic else None,
        server_ports=_ports(spec) if kind == "ps" else range(0),
        trainer_ports=_trainer_ports(spec, kind),
        on_host_network=_on_host(spec, kind) if spec.host_network else frozenset(),
    )


def _ports(spec: TrainingJobSpec) -> range:
    first = spec.port or PORT
    return range(first, first + (spec.ports_num or 1) + (spec.ports_num_for_sparse or 1))


def _trainer_ports(spec: TrainingJobSpec, kind: Topology) -> range:
    """Ports of the trainers: the servers' ports for a collective job without `frame_work`, else separate ports."""
    if spec.frame_work is None and kind == "collective":
        return _ports(spec)
    first = spec.trainer_port or 0
    return range(first, first + (spec.trainer_ports_num or 0)) if own_ports(spec) and first else range(0)


def _on_host(spec: TrainingJobSpec, kind: Topology) -> frozenset[str]:
    """Roles that `host_network` affected in the old operator's usual mode."""
    listens = kind == "collective" or own_ports(spec)
    return frozenset({"master", "pserver"} | ({"trainer"} if listens else set()))
