"""The datasets that a Training mounts."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.dataset.lower import lower as lower_dataset
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.training import checkpoints, revisions
from stowplan.library.dialects.training.pod import SHM, SHM_PATH, shm_size
from stowplan.library.dialects.training_group import cache_placement, pod_template, waiting
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.training import DatasetMount
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.kinds.native.training_parts import TrainingDataset
from stowplan.schema.meta import SpecId
from stowplan.schema.wording import counted

KIND = "Dataset"


def resolve(model: Training, namespace: str, context: Context) -> tuple[tuple[DatasetMount, ...], list[Finding]]:
    """Return the mounts of the job's datasets, and findings. Datasets that do not exist have no mount.

    `namespace` is that of the job.
    """
    required = cache_placement.is_required(model.metadata, context)
    found = cache_placement.findings(model.metadata)
    mounts: list[DatasetMount] = []
    for index, given in enumerate(model.spec.datasets or ()):
        dataset = context.dataset(namespace, given.name)
        if dataset is None:
            found += _missing(given.name, namespace, context, ("spec", "datasets", index, "name"))
            continue
        number = sum(mount.wait is not None for mount in mounts)
        mounts.append(_mount(given, dataset, context, required=required, number=number))
        found += _waits(given, dataset, index, context)
        found += _crowded(model, dataset, index) if required else ()
    return tuple(mounts), [*found, *_twice(model, context)]


def clashes(
    template: Json, mounts: tuple[DatasetMount, ...], trainer: Json, what: str = "A dataset is"
) -> Iterator[Finding]:
    """Yield findings about volumes of the template with the name of a dataset's volume, and mounts at its path.

    The paths are those in the compiled template of the pod, without the datasets. `what` is the beginning of sentences
    about what is mounted.
    """
    place = template["spec"]["containers"].index(trainer)
    for mount in mounts:
        if mount.wait:
            yield from pod_template.taken(template, mount.wait["name"], (), ())
        for index, volume in enumerate(template["spec"].get("volumes") or ()):
            if volume.get("name") == mount.volume:
                message = f'{what} in a volume "{mount.volume}" too.'
                yield finding("SP444", ("spec", "volumes", index, "name"), message, "Rename this volume.")
        for index, own in enumerate(trainer.get("volumeMounts") or ()):
            if own.get("name") != SHM and _canonical(str(own.get("mountPath"))) == _canonical(mount.path):
                path = ("spec", "containers", place, "volumeMounts", index, "mountPath")
                message = f"{what} mounted at {mount.path} too."
                yield finding("SP444", path, message, "Choose another path for one of the two.")


def _mount(given: TrainingDataset, model: Dataset, context: Context, *, required: bool, number: int) -> DatasetMount:
    dataset = cached_dataset(model, context)
    near = STORAGE_DRIVERS[dataset.driver].near(dataset, required=required)
    claim = dataset.claim
    mount = DatasetMount(claim.name, given.mount_path, near, sub_path=claim.sub_path, read_only=given.read_only)
    wait = revisions.wait_of(given)
    if wait is None:
        return mount
    unit, revision = lower_dataset(model, context).unit, revisions.named(given, model)
    return waiting.waiting(mount, wait, dataset, unit, context, number=number, revision=revision)


def _waits(given: TrainingDataset, model: Dataset, index: int, context: Context) -> Iterator[Finding]:
    wait, at = revisions.wait_of(given), ("spec", "datasets", index)
    if wait is not None:
        path: FieldPath = (*at, "revision" if given.wait is None else "wait")
        yield from waiting.findings(wait, cached_dataset(model, context), path, context.platform)
    yield from revisions.findings(given, model, (*at, "revision"))


def _missing(name: str, namespace: str, context: Context, path: FieldPath) -> list[Finding]:
    """Return a finding about a Dataset that the namespace lacks.

    Return an empty list if its document has errors, or may be in a file that has some: they are reported already.
    """
    if context.incomplete or SpecId(KIND, namespace, name) in context.refused:
        return []
    present = [each for each in context.datasets if each.kind == KIND]
    elsewhere = sorted(each.namespace for each in present if each.name == name)
    if elsewhere:
        homes = ", ".join(elsewhere)
        message = f"The Dataset {name} is in namespace {homes}; pods in {namespace} mount claims of {namespace} alone."
        hint = (
            f"To share it, add a Dataset to {namespace} with the JuiceFS volume and the `subPath` of the other one (by"
            f" default {elsewhere[0]}/{name}), and without `source`, so that only one of the two copies. A claim cannot"
            " be shared: move the job or the Dataset."
        )
        return [finding("SP306", path, message, hint)]
    here = [each.name for each in present if each.namespace == namespace]
    message = f"There is no Dataset {name} in namespace {namespace}."
    return [finding("SP302", path, message, did_you_mean(name, here) if here else "Add it to the specs.")]


def _twice(model: Training, context: Context) -> Iterator[Finding]:
    """Yield findings about paths at which two of datasets, checkpoints and shared memory are mounted."""
    seen = {SHM_PATH: "`shmSize`"} if shm_size(model, context.platform) else {}
    for mount in checkpoints.mounts(model):
        path = _canonical(mount.path)
        if path in seen:
            message, hint = f"{mount.path} is the path of {seen[path]} too.", "Choose another path."
            yield finding("SP444", (*checkpoints.PATH, "mountPath"), message, hint)
        seen[path] = "the checkpoints"
    for index, dataset in enumerate(model.spec.datasets or ()):
        path = _canonical(dataset.mount_path)
        if path in seen:
            message = f"{dataset.mount_path} is the path of {seen[path]} too."
            hint = "Choose another path for one of the two."
            yield finding("SP444", ("spec", "datasets", index, "mountPath"), message, hint)
        seen.setdefault(path, f"the dataset {dataset.name}")


def _crowded(model: Training, dataset: Dataset, index: int) -> Iterator[Finding]:
    """Yield a finding if more pods must run on the cache nodes of a dataset than it has."""
    cache, pods = dataset.spec.cache, model.spec.num_nodes
    if cache and dataset.spec.volume.juicefs and pods > cache.nodes:
        message = f"{pods} pods must share {counted(cache.nodes, 'cache node')} of {dataset.metadata.name}."
        hint = "Raise `cache.nodes` of the Dataset, or let the placement be `preferred`."
        yield finding("SP308", ("spec", "datasets", index, "name"), message, hint)


def _canonical(path: str) -> str:
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
