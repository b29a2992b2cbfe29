"""PaddlePaddle: the variables that `paddle.distributed.launch` and `fleet` read.

Names and values are those of paddle-operator, except that hosts are DNS names. Launcher and servers look up their
rank: the index of `POD_IP` in `PADDLE_TRAINERS`, or of `POD_IP:PADDLE_PORT` in the list of servers. `fleet` never
understood the old variables of heterogeneous workers, so these workers also get the variables of `fleet`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stowplan.library.frameworks.variables import index_variable, variable
from stowplan.library.ir.training import Environment, Framework, Hosts, Peer, Role, TrainingGroup
from stowplan.library.manifest import Json

PORTS = 20
"""Number of ports that a pod may use, from its first port on: as many as the old operator's Services had."""

GLOO_PORT = 18
"""Index of Gloo's rendezvous among the ports of the first server."""

INDEX = "PADDLE_TRAINER_ID"

POD_INDEX = "PADDLE_POD_INDEX"
"""Variable with the pod's index for elastic jobs since Paddle 2.3. Paddle does not know this name.

The launcher would take `PADDLE_TRAINER_ID` for the pod's rank, and fail if ranks have gaps because pods come and go.
Without `PADDLE_TRAINER_ID`, the launcher assigns ranks.
"""

_TRAINING_ROLES = {"ps": "PSERVER", "worker": "TRAINER", "heter": "HETER_TRAINER"}
"""Values of `TRAINING_ROLE`, by role. `fleet` refuses any other value."""

_OLD_ROLES = {**_TRAINING_ROLES, "heter": "HETER"}
"""Values of `PADDLE_TRAINING_ROLE`, by role: those of the old operator. Only users' scripts read this variable."""

_STAGES = {"worker": "1", "heter": "2"}
"""Values of `STAGE_ID`, by role. For `fleet` since 2.2, heterogeneous training is a pipeline of stages."""

_DEVICES = ("gpu", "xpu")
_GLOO_OVER_HTTP = "3"
_ELASTIC_TIMEOUT = "60"


@dataclass(frozen=True, slots=True)
class Elastic:
    """The etcd by which the workers of an elastic job find each other. `job_id` identifies the job in the etcd.

    `servers` are its addresses, such as `etcd.ml:2379`, of which Paddle gets the first.
    `size` is the number of workers, or names the ConfigMap with this number and the key in that ConfigMap. `modern`
    selects the variables of the launcher since Paddle 2.3, otherwise those of 2.1 and 2.2. With the latter, each pod of
    a later release trains alone: seen on 2.6.2 and 3.3.1.
    """

    job_id: str
    servers: tuple[str, ...]
    size: str | tuple[str, str]
    modern: bool = True


@dataclass(frozen=True, slots=True)
class Paddle(Framework):
    """Variables by which the processes of a PaddleJob find each other.

    `gloo` is the field `withGloo` of its spec. `elastic` is given for elastic jobs.
    """

    gloo: int = 0
    elastic: Elastic | None = None

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables by role: rank and address of the pod itself, and the addresses of the other pods.

        An elastic job has variables for its size and its etcd instead of addresses. `hosts` are the DNS names by role.
        """
        if self.elastic:
            size, etcd = tuple(_size(self.elastic)), tuple(variable(*each) for each in _etcd(self.elastic))
            return {role.name: Environment((*self._who(role, hosts), *size), etcd) for role in group.roles}
        others, gloo = list(_others(group, hosts)), list(self._gloo(group, hosts))
        return {
            role.name: Environment(
                self._who(role, hosts),
                (*_ports(role), *others, *_collective(group, role, hosts), *_heterogeneous(group, role, hosts), *gloo),
            )
            for role in group.roles
        }

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return all roles of a job with several pods: launcher and `fleet` end without an address, also of their own.

        Without Gloo, workers also wait until the servers listen: `fleet` since 3.0 connects once. With Gloo a server
        listens only after all workers have met, so waiting for it would never end.
        """
        if self.elastic or group.size == 1:
            return ()
        servers_first = self.gloo <= 0 and role.name != "ps"
        return tuple(Peer(each.name, servers_first and each.name == "ps") for each in group.roles)

    def readmits(self, group: TrainingGroup) -> bool:
        """Return whether the job is elastic. A server that was started again has lost its parameters."""
        return self.elastic is not None

    def _who(self, role: Role, hosts: Mapping[str, Hosts]) -> tuple[Json, ...]:
        index = POD_INDEX if self.elastic and self.elastic.modern else INDEX
        return (
            index_variable(index),
            variable("POD_IP", hosts[role.name].of(f"$({index})")),
            variable("TRAINING_ROLE", _TRAINING_ROLES[role.name]),
            variable("PADDLE_TRAINING_ROLE", _OLD_ROLES[role.name]),
        )

    def _gloo(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> Iterator[Json]:
        server = next((role for role in group.roles if role.name == "ps"), None)
        if server and self.gloo > 0:
            yield variable("PADDLE_WITH_GLOO", str(self.gloo))
            yield variable("PADDLE_GLOO_RENDEZVOUS", _GLOO_OVER_HTTP)
            yield variable("PADDLE_GLOO_HTTP_ENDPOINT", f"{hosts['ps'].of(0)}:{server.port + GLOO_PORT}")


def _ports(role: Role) -> tuple[Json, ...]:
    return variable("TRAINER_PORTS_NUM", str(PORTS)), variable("PADDLE_PORT", str(role.port))


def _others(group: TrainingGroup, hosts: Mapping[str, Hosts]) -> Iterator[Json]:
    """Yield the variables with the addresses of all roles, which the old operator put into a ConfigMap for all pods."""
    roles = {each.name: each for each in group.roles}
    if server := roles.get("ps"):
        yield variable("PADDLE_PSERVERS_IP_PORT_LIST", _endpoints(server, hosts))
    if worker := roles.get("worker"):
        yield variable("PADDLE_TRAINERS_NUM", str(worker.size))
        yield variable("PADDLE_TRAINERS", ",".join([hosts["worker"].of(index) for index in range(worker.size)]))
        yield variable("PADDLE_TRAINER_ENDPOINTS", _endpoints(worker, hosts))
    if heter := roles.get("heter"):
        yield variable("PADDLE_HETER_ENDPOINTS", _endpoints(heter, hosts))


def _endpoints(role: Role, hosts: Mapping[str, Hosts]) -> str:
    return ",".join(f"{hosts[role.name].of(index)}:{role.port}" for index in range(role.size))


def _collective(group: TrainingGroup, role: Role, hosts: Mapping[str, Hosts]) -> Iterator[Json]:
    """Yield the variable with the pod's own endpoint, for jobs of workers alone.

    `paddle.distributed.init_parallel_env` refuses to start without it. The launcher sets it for the processes that it
    starts; a program that runs without the launcher reads this one.
    """
    if [each.name for each in group.roles] == ["worker"]:
        yield variable("PADDLE_CURRENT_ENDPOINT", f"{hosts[role.name].of(f'$({INDEX})')}:{role.port}")


def _heterogeneous(group: TrainingGroup, role: Role, hosts: Mapping[str, Hosts]) -> Iterator[Json]:
    """Yield the variables that `fleet` reads in heterogeneous training; none unless the job has workers and heters.

    `fleet` reads the first variable until Paddle 2.1, the others from 2.2 on.
    """
    roles = {each.name: each for each in group.roles}
    worker, heter = roles.get("worker"), roles.get("heter")
    if not (worker and heter):
        return
    yield variable("PADDLE_HETER_TRAINER_IP_PORT_LIST", _endpoints(heter, hosts))
    yield variable("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", _endpoints(heter, hosts))
    if role.name not in _STAGES:
        return
    yield variable("STAGE_ID", _STAGES[role.name])
    yield variable("STAGE_NUM", str(len(_STAGES)))
    yield variable("PADDLE_STAGE_TRAINERS_NUM", f"[{worker.size}, {heter.size}]")
    if role.name == worker.name:
        yield variable("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", _endpoints(heter, hosts))
    else:
        yield variable("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", _endpoints(worker, hosts))
        yield variable("HETER_DEVICE_TYPE", _device(role))


def _device(role: Role) -> str:
    """Return the kind of device that the role's container has a limit for: `gpu` or `xpu`, else `cpu`."""
    limits = (role.template["spec"]["containers"][role.container].get("resources") or {}).get("limits") or {}
    names = [str(name).lower() for name in limits]
    return next((device for device in _DEVICES if any(device in name for name in names)), "cpu")


def _size(elastic: Elastic) -> Iterator[Json]:
    yield variable("PADDLE_JOB_ID" if elastic.modern else "PADDLE_ELASTIC_JOB_ID", elastic.job_id)
    size = "PADDLE_NNODES" if elastic.modern else "PADDLE_ELASTIC_NP"
    if isinstance(elastic.size, str):
        yield variable(size, elastic.size)
    else:
        name, key = elastic.size
        yield {"name": size, "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}}


def _etcd(elastic: Elastic) -> Iterator[tuple[str, str]]:
    """Yield (name, value) pairs of the variables for the etcd: a timeout in seconds, and the first of the servers.

    Paddle takes only one server, since it splits the value at its only colon.
    """
    yield "PADDLE_ELASTIC_TIMEOUT", _ELASTIC_TIMEOUT
    for server in elastic.servers[:1]:
        yield ("PADDLE_MASTER", _master(server)) if elastic.modern else ("PADDLE_ELASTIC_SERVER", server)


def _master(server: str) -> str:
    """Return the address of an etcd for the launcher since 2.3.

    To find the host, the launcher strips all leading letters of `etcd`, including letters of the host itself. It does
    not strip capitals, and DNS ignores case.
    """
    return f"etcd://{server[:1].upper()}{server[1:]}"
