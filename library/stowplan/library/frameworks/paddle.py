"""PaddlePaddle in a Training: the variables of a PaddleJob that has workers alone, for `paddle.distributed.launch`.

Two are added, which the launcher since 2.3 reads (`paddle/distributed/launch/context/args_envs.py`): the number of
processes in each pod, and the pod's rank, which the launcher would draw by lot.
"""

from collections.abc import Mapping

from stowplan.library.frameworks.api import Plugin
from stowplan.library.frameworks.neutral import RUN
from stowplan.library.frameworks.paddle_job import INDEX, POD_INDEX, Elastic, Paddle
from stowplan.library.frameworks.variables import index_variable, variable
from stowplan.library.ir.training import Environment, Hosts, Peer, Role, TrainingGroup
from stowplan.schema.diagnostics import Finding, finding

_WORKER = "worker"
"""The role of all pods, as the variables of a PaddleJob have it."""

PROCESSES, RANK = "PADDLE_NPROC_PER_NODE", "PADDLE_RANK"

VARIABLES = (
    INDEX,
    POD_INDEX,
    "POD_IP",
    "TRAINING_ROLE",
    "PADDLE_TRAINING_ROLE",
    "TRAINER_PORTS_NUM",
    "PADDLE_PORT",
    "PADDLE_TRAINERS_NUM",
    "PADDLE_TRAINERS",
    "PADDLE_TRAINER_ENDPOINTS",
    "PADDLE_CURRENT_ENDPOINT",
    "PADDLE_JOB_ID",
    "PADDLE_NNODES",
    "PADDLE_ELASTIC_TIMEOUT",
    "PADDLE_MASTER",
    PROCESSES,
    RANK,
)


class PaddleCollective(Plugin):
    """Variables of a Paddle job: those of a PaddleJob's workers, and what the launcher is told besides."""

    variables = frozenset(VARIABLES)
    elastic = True

    @property
    def ports(self) -> tuple[int, ...]:
        """The first port of the processes."""
        return (self.platform.paddle.base_port,)

    def findings(self) -> list[Finding]:
        """Return a finding if an elastic job has no etcd to meet at."""
        if self.launch.bounds is None or self.platform.paddle.elastic_servers:
            return []
        message = "Elastic Paddle jobs meet at an etcd, and there is none."
        return [finding("SP434", ("spec", "elastic"), message, "Give `paddle.elasticServers` in the platform file.")]

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables of the only role, by its name. `hosts` are the DNS names of its pods, by it too."""
        (role,) = group.roles
        workers = group._replace(roles=(role._replace(name=_WORKER),))
        own = Paddle(elastic=self._elastic(group)).environments(workers, {_WORKER: hosts[role.name]})[_WORKER]
        rank = () if self.launch.bounds else (index_variable(RANK),)
        processes = variable(PROCESSES, str(self.launch.processes))
        return {role.name: Environment((*own.fixed, *own.defaults, processes, *rank))}

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:
        """Return the role itself: the launcher ends without an address, also of its own pod.

        The pods of an elastic job meet at the etcd, and one process in a single pod meets nobody.
        """
        alone = self.launch.nodes == self.launch.processes == 1
        return () if self.launch.bounds or alone else (Peer(role.name),)

    def _elastic(self, group: TrainingGroup) -> Elastic | None:
        """Return what an elastic job needs. Each run is a job of its own in the etcd, which outlives them."""
        bounds, spec = self.launch.bounds, group.origin.spec
        if bounds is None:
            return None
        servers, size = tuple(self.platform.paddle.elastic_servers), f"{bounds.least}:{bounds.most}"
        return Elastic(f"{spec.namespace}-{spec.name}-$({RUN})", servers, size)


PLUGIN = PaddleCollective
