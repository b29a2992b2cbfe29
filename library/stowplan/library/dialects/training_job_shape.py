"""The topology of a TrainingJob: which roles there are, of which size, and where they listen."""

from dataclasses import dataclass
from typing import Literal

from stowplan.schema.platform import Platform
from stowplan.schema.training_job import ServerRole, TrainingJob, TrainingJobSpec

Topology = Literal["local", "collective", "ps"]

PORT = 7164
"""Default of `port`."""

_TYPES: dict[str, Topology] = {"local": "local", "nccl2": "collective", "multi": "ps"}


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes and ports of the roles; a role without pods is not there.

    `minimum` is the smallest size of an elastic job, `trainers` its largest.
    """

    topology: Topology
    master: bool
    own_etcd: bool
    servers: int
    trainers: int
    minimum: int | None
    tolerant: bool
    server_ports: range
    trainer_ports: range
    on_host_network: frozenset[str]

    def on_host(self, role: str) -> bool:
        """Whether the role's pods share the network of their nodes."""
        return role in self.on_host_network


def topology(spec: TrainingJobSpec) -> Topology:
    """`frame_work` decides where it is given; else `local_job` and `is_nccl`, in this order."""
    if spec.frame_work is not None:
        return _TYPES.get(spec.frame_work.type or "", "ps")
    if spec.local_job:
        return "local"
    return "collective" if spec.is_nccl else "ps"


def instances(role: ServerRole | None) -> tuple[int, int]:
    """Smallest and largest number of pods; without a largest one, the job is not elastic."""
    if role is None:
        return 0, 0
    least = role.min_instance or 0
    return least, role.max_instance if role.max_instance is not None else least


def is_elastic(model: TrainingJob) -> bool:
    """Whether the job asks for trainers that come and go."""
    least, most = instances(model.spec.trainer)
    return topology(model.spec) != "local" and least < most


def shape(model: TrainingJob, platform: Platform) -> Shape:
    """The shape on this platform: without a queue that admits fewer pods, an elastic job has its smallest size."""
    spec = model.spec
    kind = topology(spec)
    least, most = instances(spec.trainer)
    elastic = is_elastic(model) and platform.engines.gang == "kueue"
    return Shape(
        topology=kind,
        master=bool(spec.fault_tolerant),
        own_etcd=not (spec.master and spec.master.etcd_endpoint),
        servers=instances(spec.pserver)[0] if kind == "ps" else 0,
        trainers=1 if kind == "local" else most if elastic else least,
        minimum=least if elastic else None,
        tolerant=bool(spec.fault_tolerant),
        server_ports=_server_ports(spec) if kind == "ps" else range(0),
        trainer_ports=_trainer_ports(spec, kind),
        on_host_network=_on_host(spec, kind) if spec.host_network else frozenset(),
    )


def _server_ports(spec: TrainingJobSpec) -> range:
    first = spec.port if spec.port is not None else PORT
    return range(first, first + _given(spec.ports_num) + _given(spec.ports_num_for_sparse))


def _trainer_ports(spec: TrainingJobSpec, kind: Topology) -> range:
    """Trainers alone listen on the servers' ports where there is no `frame_work`, else on ports of their own."""
    if spec.frame_work is None:
        return _server_ports(spec) if kind == "collective" else range(0)
    if kind == "collective" or (kind == "ps" and spec.frame_work.name == "tensorflow"):
        first = spec.trainer_port or 0
        return range(first, first + (spec.trainer_ports_num or 0)) if first else range(0)
    return range(0)


def _given(number: int | None) -> int:
    return 1 if number is None else number


def _on_host(spec: TrainingJobSpec, kind: Topology) -> frozenset[str]:
    """Roles that `host_network` acted on in the operator's usual mode."""
    roles = {"master", "pserver"}
    uses_ports = kind == "collective" or (
        kind == "ps" and spec.frame_work is not None and spec.frame_work.name == "tensorflow"
    )
    return frozenset(roles | ({"trainer"} if uses_ports else set()))
