"""The datasets that a Training mounts, and the revisions for which it waits."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.dataset.locked import place_of, revision_of
from stowplan.library.dialects.dataset.lower import lower as lower_dataset
from stowplan.library.dialects.reading.floating import COMMIT
from stowplan.library.dialects.shared import missing_dataset
from stowplan.library.dialects.shared.claim_paths import canonical
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.training.job import CHECKPOINTS, Job
from stowplan.library.dialects.training.pod import SHM, SHM_PATH, TrainingPod
from stowplan.library.dialects.training_group import cache_placement, pod_template, waiting
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset
from stowplan.library.ir.training import DatasetMount
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.forms import LOCKED
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.training_parts import TrainingDataset, TrainingWait
from stowplan.schema.meta import SpecId
from stowplan.schema.remotes.s3_listing import JUICEFS_STORAGES, LISTING
from stowplan.schema.wording import counted

KIND = "Dataset"


class MountedDataset(NamedTuple):
    """A dataset of a Training: the item of the spec, the dataset that it names, and the mount in the pods."""

    given: TrainingDataset
    dataset: CachedDataset
    mount: DatasetMount


def resolve(job: Job, context: Context) -> tuple[tuple[MountedDataset, ...], list[Finding]]:
    """Return the job's datasets, without those that do not exist, and findings."""
    metadata, namespace = job.model.metadata, job.id.namespace
    required = cache_placement.is_required(metadata, context)
    found = cache_placement.findings(metadata)
    mounted: list[MountedDataset] = []
    for index, given in enumerate(job.spec.datasets or ()):
        at: FieldPath = ("spec", "datasets", index)
        model = context.dataset(namespace, given.name)
        if model is None:
            found += _missing(given.name, namespace, context, (*at, "name"))
            continue
        dataset = cached_dataset(model, context)
        number = sum(each.mount.wait is not None for each in mounted)
        mount = _mount(given, dataset, required=required)
        if wait := _wait_of(given):
            found += waiting.findings(
                wait, dataset, (*at, "revision" if given.wait is None else "wait"), context.platform
            )
            ready = waiting.of_spec(model, lower_dataset, context)
            ready = ready._replace(revision=_named(given, model))
            mount = waiting.waiting(mount, wait, dataset, ready, context, number=number)
        found += _revision(given, model, (*at, "revision"))
        found += _crowded(job, dataset, (*at, "name")) if required else ()
        mounted.append(MountedDataset(given, dataset, mount))
    return tuple(mounted), [*found, *_twice(job)]


def clashes(mount: DatasetMount, pod: TrainingPod, what: str = "A dataset is") -> Iterator[Finding]:
    """Yield findings about volumes of the template with the name of the mount's volume, and mounts at its path.

    The paths are those in the compiled template of the pod, without the datasets. `what` is the beginning of sentences
    about what is mounted.
    """
    if mount.wait:
        yield from pod_template.taken(pod.template, mount.wait["name"], (), ())
    for index, volume in enumerate(pod.spec.get("volumes") or ()):
        if volume.get("name") == mount.volume:
            message = f'{what} in a volume "{mount.volume}" too.'
            yield finding("SP444", ("spec", "volumes", index, "name"), message, "Rename this volume.")
    for index, own in enumerate(pod.trainer.get("volumeMounts") or ()):
        if own.get("name") != SHM and canonical(str(own.get("mountPath"))) == canonical(mount.path):
            path = ("spec", "containers", pod.container, "volumeMounts", index, "mountPath")
            message = f"{what} mounted at {mount.path} too."
            yield finding("SP444", path, message, "Choose another path for one of the two.")


def _mount(given: TrainingDataset, dataset: CachedDataset, *, required: bool) -> DatasetMount:
    near = STORAGE_DRIVERS[dataset.driver].near(dataset, required=required)
    claim = dataset.claim
    return DatasetMount(claim.name, given.mount_path, near, sub_path=claim.sub_path, read_only=given.read_only)


def _missing(name: str, namespace: str, context: Context, path: FieldPath) -> list[Finding]:
    """Return a finding about a Dataset that the namespace lacks; an empty list if that is reported already."""

    def elsewhere(others: Sequence[str]) -> Finding:
        homes = ", ".join(others)
        message = f"The Dataset {name} is in namespace {homes}; pods in {namespace} mount claims of {namespace} alone."
        hint = (
            f"To share it, add a Dataset to {namespace} with the JuiceFS volume and the `subPath` of the other one (by"
            f" default {others[0]}/{name}), and without `source`, so that only one of the two copies. A claim cannot"
            " be shared: move the job or the Dataset."
        )
        return finding("SP306", path, message, hint)

    return missing_dataset.findings(SpecId(KIND, namespace, name), path, context, elsewhere)


def _twice(job: Job) -> Iterator[Finding]:
    """Yield findings about paths at which two of datasets, checkpoints and shared memory are mounted."""
    seen = {canonical(SHM_PATH): "`shmSize`"} if job.shm_size else {}
    if job.checkpoints:
        given = job.checkpoints.given.mount_path
        if (path := canonical(given)) in seen:
            message, hint = f"{given} is the path of {seen[path]} too.", "Choose another path."
            yield finding("SP444", (*CHECKPOINTS, "mountPath"), message, hint)
        seen[path] = "the checkpoints"
    for index, dataset in enumerate(job.spec.datasets or ()):
        path = canonical(dataset.mount_path)
        if path in seen:
            message = f"{dataset.mount_path} is the path of {seen[path]} too."
            hint = "Choose another path for one of the two."
            yield finding("SP444", ("spec", "datasets", index, "mountPath"), message, hint)
        seen.setdefault(path, f"the dataset {dataset.name}")


def _crowded(job: Job, dataset: CachedDataset, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if a dataset has fewer cache nodes than the job has pods, which must all run there."""
    nodes, pods = dataset.partitions, job.spec.num_nodes
    if 0 < nodes < pods:
        message = f"{pods} pods must share {counted(nodes, 'cache node')} of {dataset.names.name}."
        hint = "Raise `cache.nodes` of the Dataset, or let the placement be `preferred`."
        yield finding("SP308", path, message, hint)


def _wait_of(given: TrainingDataset) -> TrainingWait | None:
    """Return what the job waits for: the field `wait`, or its default if only a revision is given; None for nothing."""
    return given.wait or (TrainingWait() if given.revision else None)


def _named(given: TrainingDataset, model: Dataset) -> str | None:
    """Return the revision that the Dataset `model` must hold; None for any, and for `locked` if nothing locks it."""
    return revision_of(model) if given.revision == LOCKED else given.revision


def _revision(given: TrainingDataset, model: Dataset, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if the Dataset `model` never reports the revision, whose path in the Training is `path`.

    Of a Dataset without a source nothing is known: its volume may be filled by another one.
    """
    wanted, source = _named(given, model), model.spec.source
    if given.revision == LOCKED and wanted is None:
        yield finding("SP905", path, *_unlocked(model))
    if wanted is None or source is None:
        return
    show = f"`kubectl get datasets.stowplan.dev {model.metadata.name} -o jsonpath={{.status.revision}}` shows it."
    of_listing, name = wanted.startswith(LISTING), model.metadata.name
    place = place_of(model)
    fixed = place.named_revision if place else None
    storage = source.storage.uri.partition("://")[0] if source.storage else None
    listed = storage or (place and place.LISTED)
    if storage and storage not in JUICEFS_STORAGES:
        message = f"{name} is copied from {storage}://, of which no revision is recorded: the job would wait for ever."
        hint = "Remove `revision`, or use `source.s3` if the storage speaks its protocol."
    elif listed and not of_listing:
        message = f"{name} is copied from an S3 store, which has no commits: the job would wait for ever."
        hint = f"Give the hash of the listing that a sync has brought, `{LISTING}…`: {show}"
    elif not listed and of_listing:
        message = f"{name} is copied from a repository, whose revisions are commits: the job would wait for ever."
        hint = f"Give the commit that a sync has brought: {show}"
    elif not fixed or fixed == wanted or not (listed or COMMIT.fullmatch(fixed)):
        return
    elif not listed:
        message = f"{name} copies the commit {fixed}, never another one: the job would wait for ever."
        hint = "Name the same commit in both places."
    else:
        message = f"{name} copies the listing {fixed}, never another one: the job would wait for ever."
        hint = "Name the same hash in both places, or write `revision: locked` here."
    yield finding("SP764", path, message, hint)


def _unlocked(model: Dataset) -> tuple[str, str]:
    """Return message and hint about a Dataset of which no revision is locked."""
    name, source = model.metadata.name, model.spec.source
    if source is None:
        return f"{name} has no source, so nothing locks a revision of it.", "Remove `revision`, or name it."
    if model.spec.refresh:
        return (
            f"{name} follows its source by `refresh`, so nothing locks a revision of it.",
            "Remove `revision`, or the `refresh` of the Dataset.",
        )
    if source.storage:
        return f"{name} is copied from another storage than S3, of which no revision is known.", "Remove `revision`."
    return (
        f"The lock file does not name what {name} is copied from, so no revision is locked.",
        "Run `stowplan pin`, and commit the lock file.",
    )
