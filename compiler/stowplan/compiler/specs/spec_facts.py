"""What specs must know of each other, as small values: they can be kept between runs and sent between processes.

The facts of a spec follow from its document, its place, and the platform; whoever keeps them must make them anew when
one of these changes. Models and documents of other specs are not needed to check a spec against them.
"""

from collections.abc import Iterator

from stowplan.compiler.kubernetes.fields import mapping
from stowplan.compiler.model import Spec
from stowplan.library.dialects.data_cube import writes
from stowplan.library.dialects.dataset import claim as dataset_claim
from stowplan.library.dialects.dataset.sample_set import cached_dataset
from stowplan.library.dialects.mounted_claims import MountedClaim, mounted_claims
from stowplan.library.dialects.paddle_job import lower
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.frozen import dataclass
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.kinds.sample_job import SampleJob
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.meta import SpecId

_SEVERAL_NODES = ("ReadWriteMany", "ReadOnlyMany")


@dataclass(frozen=True, slots=True)
class SpecFacts:
    """What others must know of one spec.

    `file` and `index` say which document it is. `digest` covers the spec, and after `resolve` what it refers to.
    `reference` is the name in its `sampleSetRef`, None where it has no such field, and `pods` how many mount what it
    leads to. `caches` are the directories on nodes of a cached dataset, each with the path where it is given; `claim`
    is that of a dataset without a cache, and `single` where its template says that only one node may mount it.
    `ports` begin with the first and end before the second.
    """

    id: SpecId
    file: str
    index: int
    digest: str
    reference: str | None = None
    pods: int = 0
    ports: tuple[int, int] | None = None
    mounted: tuple[MountedClaim, ...] = ()
    write: Write | None = None
    caches: tuple[tuple[str, FieldPath], ...] = ()
    claim: str | None = None
    single: FieldPath = ()

    @property
    def own_digest(self) -> str:
        """The part of the digest that covers the spec alone."""
        return self.digest.partition("+")[0]


def of_spec(spec: Spec, context: Context) -> SpecFacts:
    """The facts of a sound spec."""
    identity, document, namespace = spec.id, spec.document, spec.id.namespace
    place = (identity, document.file, document.index, spec.digest)
    match spec.model:
        case SampleSet() as model if _is_cached(model):
            return SpecFacts(*place, caches=tuple(_caches(model, context)))
        case SampleSet() as model:
            claim = dataset_claim.of_set(model)
            modes = mapping(claim.template or {}, "spec").get("accessModes")
            single: FieldPath = (*dataset_claim.TEMPLATE, "spec", "accessModes") if is_single(modes) else ()
            return SpecFacts(*place, write=dataset_claim.write(model, namespace), claim=claim.name, single=single)
        case DataCube() as model:
            return SpecFacts(*place, write=writes.of_model(model, namespace))
        case SampleJob() as model:
            return SpecFacts(*place, reference=_name(model))
        case PaddleJob() as model:
            roles = (model.spec.ps, model.spec.worker, model.spec.heter)
            pods = sum(max(role.replicas, 0) for role in roles if role)
            mounted = tuple(mounted_claims(model, context.platform))
            return SpecFacts(*place, _name(model), pods, _ports(model, context), mounted)
        case model:
            return SpecFacts(*place, mounted=tuple(mounted_claims(model, context.platform)))


def is_single(modes: object) -> bool:
    """Whether access modes of a claim let only one node mount it."""
    return isinstance(modes, list) and not any(mode in _SEVERAL_NODES for mode in modes)


def _name(model: SampleJob | PaddleJob) -> str | None:
    reference = model.spec.sample_set_ref
    return (reference.name or "") if reference else None


def _is_cached(model: SampleSet) -> bool:
    csi = model.spec.csi
    return STORAGE_DRIVERS[(csi.driver if csi else None) or "juicefs"].cached


def _caches(model: SampleSet, context: Context) -> Iterator[tuple[str, FieldPath]]:
    dataset = cached_dataset(model, context)
    for directory in STORAGE_DRIVERS[dataset.driver].cache_directories(dataset, context.site):
        yield directory, _directory_path(model, directory)


def _directory_path(model: SampleSet, directory: str) -> FieldPath:
    """Where a cache directory was given; for one by default, where it could be."""
    levels = model.spec.cache.levels or [] if model.spec.cache else []
    for index, level in enumerate(levels):
        if directory in (level.path or "").split(":"):
            return ("spec", "cache", "levels", index, "path")
    options = model.spec.csi.juice_fs_mount_options if model.spec.csi else None
    if options and options.cache_dir:
        return ("spec", "csi", "juiceFSMountOptions", "cache-dir")
    return ("spec", "cache", "levels")


def _ports(model: PaddleJob, context: Context) -> tuple[int, int] | None:
    if model.spec.intranet != "Host":
        return None
    taken = [block for block in lower.ports_of(model, context)[0].values() if block]
    return (taken[0].start, taken[-1].stop) if taken else None
