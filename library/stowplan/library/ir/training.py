"""A training job of any kind and framework: roles whose pods connect to each other and end together.

Values of which each job has several are named tuples, which are created several times as fast as frozen dataclasses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from stowplan.library.ir.data import Origin
from stowplan.library.ir.gate import Gate, Wait
from stowplan.library.ir.placement import ANYWHERE, Placement
from stowplan.library.ir.restart import Restart
from stowplan.library.manifest import Json
from stowplan.library.values.names import LABEL_LIMIT, TrainingNames, shorten
from stowplan.schema.diagnostics import FieldPath

RESTARTS = 6
"""Restarts of each pod of a role before its Job fails: the default of Kubernetes' Jobs."""


class Hosts(NamedTuple):
    """DNS names of a role's pods, `<before><index><after>`, for use by pods of the same namespace."""

    before: str
    after: str

    def of(self, index: int | str) -> str:
        """Return the DNS name of the pod with this index; `$(NAME)` is the value of a variable of the container."""
        return f"{self.before}{index}{self.after}"


class Role(NamedTuple):
    """Pods with the same function.

    `template` is a PodTemplateSpec; the variables of the framework go into its container number `container`. `decides`
    is true for a decider, whose pods end by themselves, and false for a helper. `ports` are the ports on which the
    role's processes listen. A helper whose first port was open and stays closed fails the job, unless `watched` is
    False. A failed pod of a `tolerant` role is retried alone, so the others need not end. `restart` is the pods'
    restart policy, `restarts` the number of restarts of a pod before its Job fails. `deadline` is the Job's deadline in
    seconds, None for none. `rules` are entries of `podFailurePolicy` that act on exit codes. `run_label` is a label of
    the pods whose value is the hash of the run, unless the template gives another value; None for no such label.
    """

    name: str
    size: int
    template: Json
    decides: bool
    ports: tuple[int, ...] = ()
    restart: Literal["Never", "OnFailure"] = "Never"
    container: int = 0
    watched: bool = True
    host_network: bool = False
    tolerant: bool = False
    restarts: int = RESTARTS
    deadline: int | None = None
    rules: tuple[Json, ...] = ()
    run_label: str | None = None

    @property
    def port(self) -> int:
        """First of the role's ports. Raises `IndexError` if it has none."""
        return self.ports[0]

    @property
    def retries(self) -> int:
        """Number of pod failures that its Job tolerates (`backoffLimit`): 0 if a failed pod fails the training job.

        Otherwise it is the number of restarts of all pods together.
        """
        return 0 if self.decides and self.restart == "Never" and not self.rules else self.restarts * self.size


@dataclass(frozen=True, slots=True)
class DatasetMount:
    """Claim of a dataset that the container number `Role.container` of every pod mounts at `path`.

    `near` is the pod affinity to the cluster nodes that cache the dataset, empty without a cache. `wait` is the init
    container that delays the pod until the dataset is ready, or None. `until` is what a gate waits for before there are
    pods, or None, and `timeout` the seconds after which the job then fails, None for no limit. `sub_path` is the
    directory of the dataset in the claim, empty for the root.
    """

    claim: str
    path: str
    near: Json
    wait: Json | None = None
    sub_path: str = ""
    read_only: bool = False
    until: Wait | None = None
    timeout: int | None = None

    @property
    def volume(self) -> str:
        """Name of the pod's volume: that of the claim with `-` for `.`, shortened to the limit for names of volumes."""
        return shorten(self.claim.replace(".", "-"), LABEL_LIMIT)


class GangRequest(NamedTuple):
    """Request of a job to a scheduler that starts all its pods or none.

    `min_member` is the number of pods that must start together, `min_resources` their quantities by resource; None
    means those of all pods. `queue` and `priority_class` are names; None means the default.
    """

    min_member: int | None = None
    min_resources: Mapping[str, object] | None = None
    queue: str | None = None
    priority_class: str | None = None

    @property
    def unset(self) -> bool:
        """Whether the job requests nothing."""
        return self == NO_WISHES


NO_WISHES = GangRequest()


class Environment(NamedTuple):
    """Variables of a role's first container.

    A variable in `fixed` overrides the user's variable of the same name; one in `defaults` is overridden by it.
    """

    fixed: tuple[Json, ...]
    defaults: tuple[Json, ...] = ()


Environments = Mapping[str, Environment]
"""Variables by role."""


def with_hosts(environments: Environments, old: Mapping[str, Hosts], new: Mapping[str, Hosts]) -> Environments:
    """Return `environments` with the DNS names `old` replaced by `new`, both by role.

    A framework makes the variables only once, with `BLANK_RUN` in the names, since the run's hash depends on them.
    """
    names = {old[role].before: new[role].before for role in old} | {old[role].after: new[role].after for role in old}

    def renamed(variable: Json) -> Json:
        value = variable.get("value", "")
        for name, other in names.items():
            value = value.replace(name, other)
        return {**variable, "value": value} if value else variable

    return {
        role: Environment(tuple(map(renamed, each.fixed)), tuple(map(renamed, each.defaults)))
        for role, each in environments.items()
    }


class Peer(NamedTuple):
    """Role whose pods must have addresses before a program starts that looks up their names only once.

    If it is `listening`, its programs must also listen on its first port. `first` is the number of pods that count,
    from that with index 0 on; None for all.
    """

    role: str
    listening: bool = False
    first: int | None = None


class Framework:
    """Training framework: makes the environment variables by which the processes of a job connect to each other.

    By default it makes none, as for a program of which nothing is known.
    """

    def environments(self, group: "TrainingGroup", hosts: Mapping[str, Hosts]) -> dict[str, Environment]:  # noqa: ARG002
        """Return the variables of the pods by role. `hosts` are the DNS names of all pods, also by role."""
        return {role.name: Environment(()) for role in group.roles}

    def peers(self, group: "TrainingGroup", role: Role) -> tuple[Peer, ...]:
        """Return the roles for whose pods those of `role` wait; none if its programs look up names until they exist.

        The number of pods of an elastic group changes, so its pods may only wait for those that it has at least. By
        default they are the role itself if the job has several pods: a program may look up a name only once.
        """
        return (Peer(role.name),) if group.size > 1 else ()

    def readmits(self, group: "TrainingGroup") -> bool:  # noqa: ARG002
        """Return whether a new process may take the place of one that died, while the other processes go on."""
        return False


class TrainingGroup(NamedTuple):
    """Training job of any kind. Every role has pods, and at least one role decides.

    `minimum` is the smallest number of pods of an elastic job, None for other jobs. The deciding role of an elastic job
    may run with fewer pods than its size, so nothing in its pods may depend on the size. `success` names the roles
    whose success is that of the job; if empty, all deciding roles. `run` is the user's run marker. `suspend` is True if
    the user holds the job back. `wishes` is the field of the spec that holds what `gang` and `placement` are made from,
    and the queue; None if the kind has none. `restart` is None if a failure ends the job; otherwise the job needs an
    engine that counts attempts, and none of its pods is replaced alone.
    `gate` is what the run waits for if it is compiled closed, else None.
    """

    origin: Origin
    names: TrainingNames
    framework: Framework
    roles: tuple[Role, ...]
    mounts: tuple[DatasetMount, ...] = ()
    gang: GangRequest = NO_WISHES
    minimum: int | None = None
    run: str = ""
    success: tuple[str, ...] = ()
    suspend: bool = False
    wishes: str | None = "schedulingPolicy"
    placement: Placement = ANYWHERE
    restart: Restart | None = None
    gate: Gate | None = None

    @property
    def wishes_path(self) -> FieldPath:
        """Path of `wishes`, for findings."""
        return ("spec", self.wishes or "schedulingPolicy")

    @property
    def size(self) -> int:
        """Number of all pods."""
        return sum(role.size for role in self.roles)

    @property
    def deciders(self) -> Sequence[Role]:
        """Deciders: roles whose Jobs give the result of the job."""
        return [role for role in self.roles if role.decides]

    @property
    def helpers(self) -> Sequence[Role]:
        """Helpers: roles whose pods are ended once the deciding roles have ended."""
        return [role for role in self.roles if not role.decides]

    @property
    def replaceable(self) -> bool:
        """Whether a pod that ended is replaced alone; otherwise its end with an error fails the job.

        If the framework does not readmit a process, the others would wait for the one that is gone for ever.
        """
        return self.size == 1 or self.framework.readmits(self)

    @property
    def elastic(self) -> bool:
        """Whether the number of pods of the deciding role may change while the job runs."""
        return self.minimum is not None
