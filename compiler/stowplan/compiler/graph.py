"""What specs have to do with each other: shared cache directories, ports and claims, and datasets nobody uses."""

from collections.abc import Iterator, Mapping, Sequence

from stowplan.compiler.manifest_fields import mapping
from stowplan.compiler.model import Program, Spec
from stowplan.compiler.source import Report
from stowplan.library.dialects import claim_writes, data_cube_writes, dataset_claim, mx_job, paddle_job, training_job
from stowplan.library.dialects.claim_writes import Write
from stowplan.library.dialects.context import Context
from stowplan.library.dialects.mounted_claims import MountedClaim, mounted_claims
from stowplan.library.dialects.sample_set import cached_dataset
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.schema.data_cube import DataCube
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.meta import SpecId
from stowplan.schema.paddle_job import HOST_PORT_ANNOTATION, PaddleJob
from stowplan.schema.sample_set import SampleSet

_TRAINING = (mx_job.KIND, paddle_job.KIND, training_job.KIND)
_SEVERAL_NODES = ("ReadWriteMany", "ReadOnlyMany")

_Writers = dict[tuple[str, str], list[tuple[SpecId, Write]]]
"""The specs so far that write to a claim or make it, by its namespace and name."""

_Single = Mapping[tuple[str, str], str]
"""Claims that only one node may mount, by namespace and name, and where that is said."""


def check(program: Program, specs: Sequence[Spec], report: Report) -> None:
    """Look at all specs together and add what is found to `report`."""
    context = Context(program.platform, "")
    directories: dict[str, Spec] = {}
    blocks: list[tuple[range, Spec]] = []
    single = dict(_single_node_claims(program)) | dict(_single_node_datasets(specs))
    datasets = {(spec.id.namespace, spec.id.name): spec.model for spec in specs if isinstance(spec.model, SampleSet)}
    used = _used(program, specs)
    writers: _Writers = {}
    for spec in specs:
        match spec.model:
            case SampleSet():
                found = [*_caches(spec, spec.model, context, directories), *_unused(spec, used)]
                if not _is_cached(spec.model):
                    found += _writes(spec, dataset_claim.write(spec.model, spec.id.namespace), writers)
            case PaddleJob():
                found = [
                    *_ports(spec, spec.model, context, blocks),
                    *_mounted_dataset(spec, spec.model, datasets, single),
                ]
            case DataCube():
                own = data_cube_writes.of_cube(spec.model, spec.id.namespace)
                found = list(_writes(spec, own, writers)) if own else []
            case _:
                found = []
        report.add_findings(spec.document, [*found, *_claims(spec, program, single)])


def _caches(spec: Spec, model: SampleSet, context: Context, users: dict[str, Spec]) -> Iterator[Finding]:
    """Two mounts that share a cache directory each evict by their own limit, so together they overrun both."""
    dataset = cached_dataset(model, context)
    for directory in STORAGE_DRIVERS[dataset.driver].cache_directories(dataset, context.site):
        first = users.setdefault(directory.rstrip("/"), spec)
        if first is not spec:
            message = (
                f"{directory} is a cache directory of {first.id} too; on a shared node each ignores the other's size."
            )
            hint = "Give each dataset directories of its own."
            yield finding("SP305", _directory_path(model, directory), message, hint)


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


def _used(program: Program, specs: Sequence[Spec]) -> dict[str, set[str]]:
    """Names of the datasets that training jobs mount, by namespace.

    A namespace without such jobs is not there, nor one with a job that may mean another dataset than it says.
    """
    present = {(spec.id.namespace, spec.id.name) for spec in specs if isinstance(spec.model, SampleSet)}
    used: dict[str, set[str]] = {}
    unclear = {refused.namespace for refused in program.refused if refused.kind in _TRAINING}
    for spec in specs:
        for mounted in mounted_claims(spec.model, program.platform):
            if (spec.id.namespace, mounted.claim) in present:
                used.setdefault(spec.id.namespace, set()).add(mounted.claim)
        reference = spec.model.spec.sample_set_ref if isinstance(spec.model, PaddleJob) else None
        if isinstance(spec.model, PaddleJob):
            used.setdefault(spec.id.namespace, set())
        if reference and (spec.id.namespace, reference.name) not in present:
            unclear.add(spec.id.namespace)
        elif reference and reference.name:
            used[spec.id.namespace].add(reference.name)
    return {namespace: names for namespace, names in used.items() if namespace not in unclear}


def _unused(spec: Spec, used: Mapping[str, set[str]]) -> Iterator[Finding]:
    """Said only where jobs of the same namespace could use it: other datasets are mounted by what is not here."""
    if spec.id.namespace in used and spec.id.name not in used[spec.id.namespace]:
        message = f"No job in namespace {spec.id.namespace} mounts the dataset."
        hint = "Name it in the `sampleSetRef` of a job, or remove it if nothing else mounts its claim."
        yield finding("SP307", ("metadata", "name"), message, hint)


def _ports(spec: Spec, model: PaddleJob, context: Context, blocks: list[tuple[range, Spec]]) -> Iterator[Finding]:
    if model.spec.intranet != "Host":
        return
    taken = [block for block in paddle_job.ports_of(model, context)[0].values() if block]
    if not taken:
        return
    own = range(taken[0].start, taken[-1].stop)
    for block, other in blocks:
        if own.start < block.stop and block.start < own.stop:
            message = f"Ports {own.start}-{own.stop - 1} overlap with {block.start}-{block.stop - 1} of {other.id}."
            hint = f'Choose others for one of them, such as the annotation `{HOST_PORT_ANNOTATION}: "{block.stop}"`.'
            yield finding("SP310", ("spec", "intranet"), message, hint)
            break
    blocks.append((own, spec))


def _single_node_claims(program: Program) -> Iterator[tuple[tuple[str, str], str]]:
    """Claims among the plain objects of the repository that only one node may mount."""
    for document in program.passed_through:
        data = document.data
        if data.get("kind") == "PersistentVolumeClaim" and _is_single(mapping(data, "spec").get("accessModes")):
            metadata = mapping(data, "metadata")
            namespace = metadata.get("namespace") or program.platform.default_namespace
            yield (str(namespace), str(metadata.get("name"))), str(document.locate(("spec", "accessModes")))


def _single_node_datasets(specs: Sequence[Spec]) -> Iterator[tuple[tuple[str, str], str]]:
    """Claims that SampleSets make and that only one node may mount."""
    for spec in specs:
        if isinstance(spec.model, SampleSet) and not _is_cached(spec.model):
            claim = dataset_claim.of_set(spec.model)
            if claim.template and _is_single(mapping(claim.template, "spec").get("accessModes")):
                place = spec.document.locate((*dataset_claim.TEMPLATE, "spec", "accessModes"))
                yield (spec.id.namespace, claim.name), str(place)


def _is_single(modes: object) -> bool:
    return isinstance(modes, list) and not any(mode in _SEVERAL_NODES for mode in modes)


def _is_cached(model: SampleSet) -> bool:
    csi = model.spec.csi
    return STORAGE_DRIVERS[(csi.driver if csi else None) or "juicefs"].cached


def _claims(spec: Spec, program: Program, single: _Single) -> Iterator[Finding]:
    for mounted in mounted_claims(spec.model, program.platform):
        yield from _too_many(spec, mounted, single)


def _mounted_dataset(
    spec: Spec, model: PaddleJob, datasets: Mapping[tuple[str, str], SampleSet], single: _Single
) -> Iterator[Finding]:
    """The claim of the dataset that a job mounts."""
    reference = model.spec.sample_set_ref
    dataset = datasets.get((spec.id.namespace, (reference and reference.name) or ""))
    if dataset and not _is_cached(dataset):
        roles = (model.spec.ps, model.spec.worker, model.spec.heter)
        pods = sum(max(role.replicas, 0) for role in roles if role)
        path: FieldPath = ("spec", "sampleSetRef", "name")
        yield from _too_many(spec, MountedClaim(dataset_claim.of_set(dataset).name, pods, "the job", path), single)


def _too_many(spec: Spec, mounted: MountedClaim, single: _Single) -> Iterator[Finding]:
    place = single.get((spec.id.namespace, mounted.claim))
    if mounted.pods > 1 and place:
        which = f"the claim {mounted.claim}, which one node can mount ({place})"
        message = f"{mounted.pods} pods of {mounted.whose} mount {which}."
        yield finding("SP309", mounted.path, message, "Use a claim with ReadWriteMany, or only one pod.")


def _writes(spec: Spec, own: Write, writers: _Writers) -> Iterator[Finding]:
    """One finding for the first spec that writes to the same place, and one for the first that makes the same claim."""
    others = writers.setdefault((own.namespace, own.claim), [])
    clashes = (found for other, written in others for found in claim_writes.clash(own, written, str(other)))
    yield from list(clashes)[:1]
    makers = [other for other, written in others if written.template]
    if makers and own.template:
        yield claim_writes.made_twice(own, str(makers[0]))
    others.append((spec.id, own))
