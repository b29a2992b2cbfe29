"""Neutral value of a training job: roles whose pods connect to each other and end together.

Values of which each job has several are named tuples, which are created several times as fast as frozen dataclasses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json
from stowplan.library.values.names import LABEL_LIMIT, TrainingNames, shorten

RESTARTS = 6
"""Restarts of each pod of a role before its Job fails: the default of Kubernetes' Jobs."""


class Hosts(NamedTuple):
    """DNS names of a role's pods for pods of the same namespace. They differ only in the index."""

    before: str
    after: str

    def of(self, index: int | str) -> str:
        """Return the name of the pod with this index; `$(NAME)` if a variable of the container holds the index."""
        return f"{self.before}{index}{self.after}"


class Role(NamedTuple):
    """Pods with the same function.

    `template` is a PodTemplateSpec; the variables of the framework go into its container number `container`. Roles that
    `decide` end by themselves; the others are helpers, which end with them. `ports` are the ports on which the role's
    processes listen. A helper whose first port stays closed fails the group, unless `watched` is False. A failed pod of
    a `tolerant` role is retried alone, so the others need not end. `rules` judge exit codes.
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

    @property
    def port(self) -> int:
        """First of its ports."""
        return self.ports[0]

    @property
    def retries(self) -> int:
        """Failures that its Job tolerates: 0 if a failed pod fails the job, else the number of restarts."""
        return 0 if self.decides and self.restart == "Never" and not self.rules else self.restarts * self.size


@dataclass(frozen=True, slots=True)
class DatasetMount:
    """Dataset's claim, mounted in the first container of every pod.

    `near` is the pod affinity to the nodes that cache the dataset. `wait` is the init container that delays the pod
    until the dataset is ready, or None. `sub_path` is the directory of the dataset in the claim.
    """

    claim: str
    path: str
    near: Json
    wait: Json | None = None
    sub_path: str = ""

    @property
    def volume(self) -> str:
        """Name of the pod's volume: that of the claim, shortened to a volume's limit."""
        return shorten(self.claim.replace(".", "-"), LABEL_LIMIT)


class GangRequest(NamedTuple):
    """Request to a scheduler that starts all pods of a job or none. None means the whole job."""

    min_member: int | None = None
    min_resources: Mapping[str, object] | None = None
    queue: str | None = None
    priority_class: str | None = None

    @property
    def unset(self) -> bool:
        """Return whether the job requests nothing."""
        return self == NO_WISHES


NO_WISHES = GangRequest()


class Environment(NamedTuple):
    """Variables of a role's first container.

    A variable in `fixed` overrides the user's variable of the same name; one in `defaults` is overridden by it.
    """

    fixed: tuple[Json, ...]
    defaults: tuple[Json, ...] = ()


Environments = Mapping[str, Environment]
"""By role."""


def with_hosts(environments: Environments, old: Mapping[str, Hosts], new: Mapping[str, Hosts]) -> Environments:
    """The same variables for pods with other names: the framework is asked once, for names without a run's hash.

    `old` are the names in `environments`, by role, and `new` are those of the same roles.
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


class Framework(Protocol):
    """Training framework: translates a group into variables, by which its processes connect to each other."""

    @property
    def name(self) -> str:
        """Name for people."""
        ...

    def environments(self, group: "TrainingGroup", hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables of each role's pods by role. `hosts` has the names of all roles' pods, also by role."""
        ...


class TrainingGroup(NamedTuple):
    """Training job. No role is empty, and at least one decides.

    An elastic group has a `minimum`: its deciding role may run with fewer pods, so nothing in its pods may depend on
    its size. `success` names the roles whose success is that of the job; if empty, all deciding roles. `names_queue` is
    True if its kind has a field for the queue.
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
    names_queue: bool = True

    @property
    def size(self) -> int:
        """Number of all pods."""
        return sum(role.size for role in self.roles)

    @property
    def deciders(self) -> Sequence[Role]:
        """Roles that decide success."""
        return [role for role in self.roles if role.decides]

    @property
    def helpers(self) -> Sequence[Role]:
        """Return the helpers: roles whose pods are ended once the deciding roles have finished."""
        return [role for role in self.roles if not role.decides]

    @property
    def elastic(self) -> bool:
        """Return whether its size may change while it runs."""
        return self.minimum is not None
