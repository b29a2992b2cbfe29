"""The neutral value of a training job: roles whose pods meet each other and end together.

Values of which each job has several are tuples: those are made several times as fast as frozen dataclasses.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json
from stowplan.library.values.names import LABEL_LIMIT, TrainingNames, shorten
from stowplan.schema.frozen import dataclass

RESTARTS = 6
"""Restarts for each pod of a role before its Job fails: the default of Kubernetes' Jobs."""


class Hosts(NamedTuple):
    """DNS names of a role's pods, as pods of the same namespace resolve them. They differ in the index alone."""

    before: str
    after: str

    def of(self, index: int | str) -> str:
        """The name of the pod with that index; `$(NAME)` for a container that has its index in a variable."""
        return f"{self.before}{index}{self.after}"


class Role(NamedTuple):
    """Pods that do the same.

    `template` is a PodTemplateSpec; what the framework knows goes into its container number `container`. Roles that
    `decide` end by themselves, the others are helpers, which end with them. `ports` are those that the role's
    processes listen on; a helper whose first one stays closed fails the group, unless it is not `watched`. A pod of a
    `tolerant` role that failed is tried again by itself, so the others need not end. `rules` judge exit codes.
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
        """The first of its ports."""
        return self.ports[0]

    @property
    def retries(self) -> int:
        """Failures that its Job outlives: none where a failed pod fails the job, else so many restarts."""
        return 0 if self.decides and self.restart == "Never" and not self.rules else self.restarts * self.size


@dataclass(frozen=True, slots=True)
class DatasetMount:
    """A dataset's claim, mounted in the first container of every pod.

    `near` is the pod affinity to where the dataset is cached. `wait` is the init container that holds the pod back
    until the dataset is ready, if there is one. `sub_path` is the directory of the dataset in the claim.
    """

    claim: str
    path: str
    near: Json
    wait: Json | None = None
    sub_path: str = ""

    @property
    def volume(self) -> str:
        """Name of the pod's volume: that of the claim, as far as a volume can have it."""
        return shorten(self.claim.replace(".", "-"), LABEL_LIMIT)


class GangRequest(NamedTuple):
    """What a job asks of a scheduler that starts all of its pods or none. None stands for the whole of the job."""

    min_member: int | None = None
    min_resources: Mapping[str, object] | None = None
    queue: str | None = None
    priority_class: str | None = None

    @property
    def unset(self) -> bool:
        """Whether the job asks for nothing."""
        return self == NO_WISHES


NO_WISHES = GangRequest()


class Environment(NamedTuple):
    """Variables of a role's first container.

    A user's variable of the same name gives way to one in `fixed`, and takes the place of one in `defaults`.
    """

    fixed: tuple[Json, ...]
    defaults: tuple[Json, ...] = ()


class Framework(Protocol):
    """What a training framework wants to know: turns a group into variables, by which its processes meet."""

    @property
    def name(self) -> str:
        """Its name in words."""
        ...

    def environments(self, group: "TrainingGroup", hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Variables of each role's pods, by role. `hosts` has the names of all roles' pods, by role too."""
        ...


class TrainingGroup(NamedTuple):
    """A training job. No role is empty, and at least one decides.

    An elastic group has a `minimum`: its deciding role may run with so many pods, so nothing in its pods may depend on
    its size. `success` names the roles whose success is that of the job; all that decide, where it is empty.
    `names_queue` says whether its kind has a field for the queue.
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
        """The roles that decide success."""
        return [role for role in self.roles if role.decides]

    @property
    def helpers(self) -> Sequence[Role]:
        """The roles that end with the deciders."""
        return [role for role in self.roles if not role.decides]

    @property
    def elastic(self) -> bool:
        """Whether its size may change while it runs."""
        return self.minimum is not None
