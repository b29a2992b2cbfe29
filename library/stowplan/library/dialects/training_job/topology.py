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
    """Sizes and ports of the roles. A role without pods is left out of the job.

    `trainers` and `servers` are numbers of pods; of an elastic job `minimum` is the smallest number of trainers and
    `trainers` the largest. `minimum` is None for other jobs. `master` says whether there is a master, `own_etcd`
    whether the master has an etcd as a sidecar. `on_host` are the roles on the network of their cluster nodes.
    """

    topology: Topology
    master: bool
    own_etcd: bool
    servers: int
    trainers: int
    minimum: int | None
    server_ports: range
    trainer_ports: range
    on_host: frozenset[str]


def topology(spec: TrainingJobSpec) -> Topology:
    """Return the topology: from `frame_work` if given, else from `local_job`, else from `is_nccl`; `ps` by default."""
    if spec.frame_work is not None:
        return TYPES.get(spec.frame_work.type or "", "ps")
    if spec.local_job:
        return "local"
    return "collective" if spec.is_nccl else "ps"


def instances(role: ServerRole | None) -> tuple[int, int]:
    """Return the smallest and the largest number of pods of a role; the largest defaults to the smallest.

    Both are 0 without the role.
    """
    least = role.min_instance or 0 if role else 0
    return least, role.max_instance or least if role else 0


def may_grow(model: TrainingJob) -> bool:
    """Return whether the job names a smallest and a larger largest number of trainers."""
    least, most = instances(model.spec.trainer)
    return topology(model.spec) != "local" and 0 < least < most


def is_elastic(model: TrainingJob, platform: Platform) -> bool:
    """Return whether the number of trainers may change while the job runs.

    The job must name a range and be fault-tolerant, and the gang engine must set the number of pods.
    """
    return may_grow(model) and bool(model.spec.fault_tolerant) and GANG_ENGINES[platform.engines.gang].resizes


def scheduler(spec: TrainingJobSpec) -> str | None:
    """Return the scheduler that the job names for all of its pods; None if it names none."""
    return (spec.annotations.scheduler if spec.annotations else None) or spec.scheduler_name or None


def own_ports(spec: TrainingJobSpec) -> bool:
    """Return whether trainers listen on ports of their own, from `trainer_port` on."""
    work = spec.frame_work
    return work is not None and (work.type == "nccl2" or (work.type == "multi" and work.name == "tensorflow"))


def shape(model: TrainingJob, platform: Platform) -> Shape:
    """Return sizes and ports of the roles on this platform. A job that is not elastic has its smallest size."""
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
        on_host=_on_host(spec, kind) if spec.host_network else frozenset(),
    )


def _ports(spec: TrainingJobSpec) -> range:
    first = spec.port or PORT
    return range(first, first + (spec.ports_num or 1) + (spec.ports_num_for_sparse or 1))


def _trainer_ports(spec: TrainingJobSpec, kind: Topology) -> range:
    """Return the ports of the trainers; empty if they listen on none.

    A collective job without `frame_work` uses the ports that servers would have, other jobs use separate ports.
    """
    if spec.frame_work is None and kind == "collective":
        return _ports(spec)
    first = spec.trainer_port or 0
    return range(first, first + (spec.trainer_ports_num or 0)) if own_ports(spec) and first else range(0)


def _on_host(spec: TrainingJobSpec, kind: Topology) -> frozenset[str]:
    """Return the roles that use the host network if `host_network` is true, as in the old operator's usual mode."""
    listens = kind == "collective" or own_ports(spec)
    return frozenset({"master", "pserver"} | ({"trainer"} if listens else set()))
