"""`Job`: a Training in the form that its rules and builders share. What several of them need is looked up once."""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Job:
    """A Training, and what follows from the spec and the platform without its pod template.

    `plugin` is that of its framework. `device` and `network` are the profiles that it names; an empty profile stands
    for none, and for one that does not exist. `shm_size` is the size of `/dev/shm`: the user's own, else that of the
    network's profile; None for the runtime's own. `bounds` are those of an elastic job. `restart` is None unless the
    whole job starts again; without exit codes in the spec, those of the framework count.
    """

    model: Training
    platform: Platform
    id: SpecId
    plugin: Plugin
    device: AcceleratorProfile
    network: NetworkProfile
    shm_size: str | None
    bounds: Bounds | None
    restart: Restart | None
    checkpoints: CheckpointClaim | None

    @property
    def spec(self) -> TrainingSpec:
        """The spec of the Training."""
        return self.model.spec

    @property
    def names(self) -> TrainingNames:
        """Names of the job's objects."""
        return TrainingNames(self.id.name, KIND.lower())

    @property
    def shm_path(self) -> FieldPath:
        """Path of the field that gives the size of `/dev/shm`."""
        return ("spec", "shmSize" if self.spec.shm_size else "network")

    @property
    def most_pods(self) -> int:
        """The largest number of pods that the job may have."""
        return max(self.spec.num_nodes, self.bounds.most if self.bounds else 1)


def view(model: Training, platform: Platform) -> Job:
    """Return the `Job` of a Training, even if the Training has errors."""
    spec = model.spec
    network = platform.profiles.networks.get(spec.network or "", _NO_NETWORK)
    identity = SpecId(KIND, model.metadata.namespace or platform.default_namespace, model.metadata.name)
    plugin = PLUGINS[spec.framework]
    return Job(
        model=model,
        platform=platform,
        id=identity,
        plugin=plugin,
        device=platform.profiles.accelerators.get(spec.accelerator or "", _NO_DEVICE),
        network=network,
        shm_size=spec.shm_size or network.shm_size,
        bounds=Bounds(spec.elastic.min, spec.elastic.max) if spec.elastic else None,
        restart=_restart(spec, plugin),
        checkpoints=_checkpoints(spec.checkpoints, identity),
    )


def _restart(spec: TrainingSpec, plugin: Plugin) -> Restart | None:
    given = spec.restart
    if given is None:
        return None
    if given.fail_on is not None:
        return Restart(given.max, tuple(sorted(set(given.fail_on))))
    return Restart(given.max, plugin.final if given.retry_on is None else all_but(given.retry_on))


def _checkpoints(given: Checkpoints | None, spec: SpecId) -> CheckpointClaim | None:
    if given is None:
        return None
    name = given.claim.name or shorten(f"{spec.name}-checkpoints", SUBDOMAIN_LIMIT)
    return CheckpointClaim(given, name, given.lineage or f"{spec.namespace}/{spec.name}")
