"""The dataset that a training job mounts."""

from collections.abc import Iterator

from stowplan.library.builders.pods import wait_container
from stowplan.library.dialects.sample_set import reference as dataset_reference
from stowplan.library.dialects.sample_set import sample_set
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.training_group import cache_placement, pod_template, waiting
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.training import DatasetMount, Role
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding, finding, has_errors
from stowplan.schema.kinds import paddle_job
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.meta import ObjectMeta
from stowplan.schema.wording import counted

_REF: FieldPath = ("spec", "sampleSetRef")


def resolve(
    reference: paddle_job.DatasetMount | None, metadata: ObjectMeta, namespace: str, context: Context
) -> tuple[tuple[DatasetMount, ...], list[Finding]]:
    """Return the mount of the dataset in `reference`, the field `sampleSetRef`, and findings.

    The first part is a tuple of one mount; it is empty if no dataset is given or the dataset cannot be mounted.
    `metadata` and `namespace` are those of the job.
    """
    found = cache_placement.findings(metadata)
    if reference is None:
        return (), found
    found += [*_reference(reference, namespace), *_mount_path(reference.mount_path)]
    if not reference.name or has_errors(found):
        return (), found
    model = context.sample_set(namespace, reference.name)
    if model is None:
        return (), found + dataset_reference.missing(reference.name, namespace, context)
    dataset = sample_set.cached_dataset(model, context)
    near = STORAGE_DRIVERS[dataset.driver].near(dataset, required=cache_placement.is_required(metadata, context))
    mount = DatasetMount(dataset.claim.name, reference.mount_path, near, sub_path=dataset.claim.sub_path)
    if reference.wait is None:
        return (mount,), found
    found += waiting.findings(reference.wait, dataset, (*_REF, "wait"), context.platform)
    ready = waiting.of_spec(model, sample_set.lower, context)
    return (waiting.waiting(mount, reference.wait, dataset, ready, context),), found


def clashes(template: Json, mounts: tuple[DatasetMount, ...], at: FieldPath) -> Iterator[Finding]:
    """Yield findings about volumes, mounts and containers in a user's pod template that clash with those for `mounts`.

    `at` is the path of the pod spec.
    """
    spec = template["spec"]
    for mount in mounts:
        if mount.wait:
            yield from pod_template.taken(template, wait_container.CONTAINER, (), at[:-1])
        for index, volume in enumerate(spec.get("volumes") or ()):
            if volume.get("name") == mount.volume:
                message = f'The volume of the dataset is called "{mount.volume}" too.'
                yield finding("SP444", (*at, "volumes", index, "name"), message, "Rename this volume.")
        for index, own in enumerate(spec["containers"][0].get("volumeMounts") or ()):
            if str(own.get("mountPath", "")).rstrip("/") == mount.path.rstrip("/"):
                message = f"The dataset is mounted at {mount.path} too."
                path = (*at, "containers", 0, "volumeMounts", index, "mountPath")
                yield finding("SP444", path, message, "Choose another path for one of the two.")


def crowded(roles: tuple[Role, ...], model: SampleSet) -> Iterator[Finding]:
    """Yield findings about roles with more pods than `model` has cache nodes.

    Call it only for jobs whose pods must run on cache nodes.
    """
    nodes = model.spec.partitions or 0
    for role in roles:
        if role.size > nodes:
            message = f"{role.size} pods of {role.name} must share {counted(nodes, 'cache node')}."
            hint = "Raise `partitions` of the SampleSet, or let the placement be `preferred`."
            yield finding("SP308", ("spec", role.name, "replicas"), message, hint)


def _reference(reference: paddle_job.DatasetMount, namespace: str) -> list[Finding]:
    found = []
    if not reference.name:
        message = "`sampleSetRef.name` is missing; it names the dataset to mount."
        found.append(finding("SP413", (*_REF, "name"), message, "Name a SampleSet of the same namespace."))
    if reference.namespace and reference.namespace != namespace:
        message = f"The dataset is in namespace {reference.namespace}, but pods mount claims of their own: {namespace}."
        hint = f"Remove it, and have a SampleSet in {namespace}: one with `noSync: true` shares the volume."
        found.append(finding("SP306", (*_REF, "namespace"), message, hint))
    return found


def _mount_path(path: str) -> list[Finding]:
    at = (*_REF, "mountPath")
    if not path.startswith("/") or not path.strip("/"):
        return [finding("SP405", at, f'"{path}" is not a path below the root.', "Give one such as `/data`.")]
    if ":" in path:
        return [finding("SP405", at, f'"{path}" holds a colon, which no mount path may.', "Remove it.")]
    return []
