"""PaddlePaddle before Fluid, and its launcher `paddle_k8s`: the variables that images for Baidu's operator read.

The launcher asked the API server of Kubernetes for the pods' addresses, and took the index of its own address among
them for its rank. Here variables give both: hosts as DNS names, the rank from the index of the pod. Programs for Fluid,
the API of later Paddle releases, search for `POD_IP`: a server in `PADDLE_INIT_PSERVERS`, a trainer with NCCL in
`PADDLE_TRAINER_IPS`. So `POD_IP` is the pod's DNS name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stowplan.library.frameworks.variables import field_variable, index_variable, variable
from stowplan.library.ir.training import Environment, Framework, Hosts, Peer, Role, TrainingGroup
from stowplan.library.manifest import Json

INDEX = "PADDLE_INIT_TRAINER_ID"
_FLUID_INDEX = "PADDLE_TRAINER_ID"
"""Variable with the index of a pod, for programs for Fluid. `INDEX` is that for older programs.

Parameter servers also have both variables, with their index among the servers: programs read them before their role.
"""

_FLUID_ROLES = {"trainer": "TRAINER", "pserver": "PSERVER"}


@dataclass(frozen=True, slots=True)
class PaddleLegacy(Framework):
    """Variables of PaddlePaddle before its launcher, from these values of a TrainingJob and from its roles.

    `trainer_count` is the number of devices or CPUs of one trainer. `dense_ports` and `sparse_ports` are numbers of
    ports, the first of which is `port`. `external_etcd` is the host of the user's etcd; None for that of the master.
    """

    job: str
    entrypoint: str
    workspace: str
    port: int
    dense_ports: int
    sparse_ports: int
    passes: int
    trainer_count: int
    uses_gpu: bool
    external_etcd: str | None = None

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables by role, over which the user's take precedence. `hosts` are the DNS names by role."""
        first = [*self._described(group), *_others(group, hosts)]
        last = list(self._master(group, hosts))
        return {
            role.name: Environment((), (*first, *_role(role), *last, *_own(role, hosts[role.name])))
            for role in group.roles
        }

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return the trainers of a job that has only trainers: NCCL of Fluid looks up each name once.

        Trainers with parameter servers (Fluid's transpiler) or with a master look for them until they answer.
        """
        alone = [each.name for each in group.roles] == ["trainer"]
        return (Peer("trainer"),) if alone and group.size > 1 and group.minimum is None else ()

    def readmits(self, group: TrainingGroup) -> bool:
        """Return whether the job is fault-tolerant: then the master's etcd keeps the tasks and knows who is there."""
        return any(role.tolerant for role in group.roles)

    def _described(self, group: TrainingGroup) -> Iterator[Json]:
        """Yield the variables from the spec's fields, as in the old operator.

        An elastic job gets its smallest and its largest number of trainers.
        """
        sizes = {each.name: each.size for each in group.roles}
        trainers = sizes["trainer"]
        yield variable("PADDLE_JOB_NAME", self.job)
        if group.minimum is None:
            yield variable("TRAINERS", str(trainers))
        else:
            yield variable("TRAINERS_MIN", str(group.minimum))
            yield variable("TRAINERS_MAX", str(trainers))
        yield variable("PSERVERS", str(sizes.get("pserver", 0)))
        yield variable("ENTRY", self.entrypoint)
        yield variable("TOPOLOGY", self.entrypoint)
        yield variable("TRAINER_PACKAGE", self.workspace)
        yield variable("PADDLE_INIT_PORT", str(self.port))
        yield variable("PADDLE_INIT_TRAINER_COUNT", str(self.trainer_count))
        yield variable("PADDLE_INIT_PORTS_NUM", str(self.dense_ports))
        yield variable("PADDLE_INIT_PORTS_NUM_FOR_SPARSE", str(self.sparse_ports))
        if group.minimum is None:
            yield variable("PADDLE_INIT_NUM_GRADIENT_SERVERS", str(trainers))
        yield variable("PADDLE_INIT_NUM_PASSES", str(self.passes))
        yield variable("PADDLE_INIT_USE_GPU", "1" if self.uses_gpu else "0")
        yield variable("LD_LIBRARY_PATH", "/usr/local/cuda/lib64")

    def _master(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> Iterator[Json]:
        if any(role.name == "master" for role in group.roles):
            yield variable("MASTER_IP", hosts["master"].of(0))
            yield variable("ETCD_IP", self.external_etcd or hosts["master"].of(0))


def _others(group: TrainingGroup, hosts: Mapping[str, Hosts]) -> Iterator[Json]:
    """Yield the variables with the DNS names of servers and trainers.

    They stand in for the addresses that the old launcher requested from the API server of Kubernetes. They have the old
    names, and the names that the launcher exported for Fluid.
    """
    roles = {each.name: each for each in group.roles}
    if server := roles.get("pserver"):
        servers = [hosts["pserver"].of(index) for index in range(server.size)]
        yield variable("PADDLE_INIT_PSERVERS", ",".join(servers))
        yield variable("PADDLE_PSERVER_IPS", ",".join(servers))
    if group.minimum is None:
        trainers = [hosts["trainer"].of(index) for index in range(roles["trainer"].size)]
        yield variable("PADDLE_TRAINER_IPS", ",".join(trainers))


def _role(role: Role) -> Iterator[Json]:
    if role.name in _FLUID_ROLES:
        yield variable("TRAINING_ROLE", _FLUID_ROLES[role.name])
        yield variable("PADDLE_TRAINING_ROLE", _FLUID_ROLES[role.name])


def _own(role: Role, host: Hosts) -> Iterator[Json]:
    """Yield the variables whose values differ from pod to pod: namespace, index, address and name."""
    yield field_variable("NAMESPACE", "metadata.namespace")
    if role.name in _FLUID_ROLES:
        yield index_variable(INDEX)
        yield index_variable(_FLUID_INDEX)
        yield variable("POD_IP", host.of(f"$({INDEX})"))
    else:
        yield field_variable("POD_IP", "status.podIP")
    yield field_variable("POD_NAME", "metadata.name")
