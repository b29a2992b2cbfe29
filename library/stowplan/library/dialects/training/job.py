"""`Job`: a Training in the form that its rules and builders share. What several of them need is made once."""

from dataclasses import dataclass
from functools import cached_property

from stowplan.library.frameworks.api import Bounds, Plugin
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.ir.restart import Restart, all_but
from stowplan.library.ir.training import DatasetMount
from stowplan.library.manifest import Json
from stowplan.library.values.names import SUBDOMAIN_LIMIT, TrainingNames, shorten
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.native.training import Training, TrainingSpec
from stowplan.schema.kinds.native.training_parts import Checkpoints
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.profiles import AcceleratorProfile, NetworkProfile

KIND = "Training"
CHECKPOINTS: FieldPath = ("spec", "checkpoints")

_NO_DEVICE, _NO_NETWORK = AcceleratorProfile(), NetworkProfile()


@dataclass(frozen=True, slots=True)
class CheckpointClaim:
    """The claim of a job's checkpoints: the field of the spec, the name of the claim, and that of the job's lineage."""

    given: Checkpoints
    name: str
    lineage: str

    @property
    def template(self) -> Json | None:
        """The template from which the job writes the claim; None if the claim must exist already."""
        return self.given.claim.template

    @property
    def mount(self) -> DatasetMount:
        """The mount of the whole claim in the trainer."""
        return DatasetMount(self.name, self.given.mount_path, {})

    @property
    def directory(self) -> str:
        """The path at which the trainer finds the checkpoints of its lineage."""
        return f"{self.given.mount_path.rstrip('/')}/{self.lineage}"

    @property
    def lineage_path(self) -> FieldPath:
        """Path of the field that names the lineage."""
        return (*CHECKPOINTS, "lineage") if self.given.lineage else CHECKPOINTS


@dataclass(frozen=True)
class Job:
    """A Training and the platform that it is compiled for, with what follows from both without its pod template."""

    model: Training
    platform: Platform

    @property
    def spec(self) -> TrainingSpec:
        """The spec of the Training."""
        return self.model.spec

    @cached_property
    def id(self) -> SpecId:
        """Kind, namespace and name. A Training without a namespace is in the platform's default one."""
        metadata = self.model.metadata
        return SpecId(KIND, metadata.namespace or self.platform.default_namespace, metadata.name)

    @cached_property
    def names(self) -> TrainingNames:
        """Names of the job's objects."""
        return TrainingNames(self.id.name, KIND.lower())

    @property
    def plugin(self) -> type[Plugin]:
        """The job's framework."""
        return PLUGINS[self.spec.framework]

    @property
    def device(self) -> AcceleratorProfile:
        """The device that the job names; an empty profile if it names none, or one that does not exist."""
        return self.platform.profiles.accelerators.get(self.spec.accelerator or "", _NO_DEVICE)

    @property
    def network(self) -> NetworkProfile:
        """The network that the job names; an empty profile if it names none, or one that does not exist."""
        return self.platform.profiles.networks.get(self.spec.network or "", _NO_NETWORK)

    @property
    def shm_size(self) -> str | None:
        """The size of `/dev/shm`: the user's own, else that of the network's profile; None for the runtime's own."""
        return self.spec.shm_size or self.network.shm_size

    @property
    def shm_path(self) -> FieldPath:
        """Path of the field that gives the size of `/dev/shm`."""
        return ("spec", "shmSize" if self.spec.shm_size else "network")

    @property
    def bounds(self) -> Bounds | None:
        """Smallest and largest number of pods of an elastic job; None for other jobs."""
        elastic = self.spec.elastic
        return Bounds(elastic.min, elastic.max) if elastic else None

    @property
    def most_pods(self) -> int:
        """The largest number of pods that the job may have."""
        return max(self.spec.num_nodes, self.bounds.most if self.bounds else 1)

    @cached_property
    def restart(self) -> Restart | None:
        """When the whole job starts again; None without `restart`. Without exit codes, those of the framework count."""
        given = self.spec.restart
        if given is None:
            return None
        if given.fail_on is not None:
            return Restart(given.max, tuple(sorted(set(given.fail_on))))
        return Restart(given.max, self.plugin.final if given.retry_on is None else all_but(given.retry_on))

    @cached_property
    def checkpoints(self) -> CheckpointClaim | None:
        """The claim of the job's checkpoints; None for a job without checkpoints."""
        given = self.spec.checkpoints
        if given is None:
            return None
        name = given.claim.name or shorten(f"{self.id.name}-checkpoints", SUBDOMAIN_LIMIT)
        return CheckpointClaim(given, name, given.lineage or f"{self.id.namespace}/{self.id.name}")
