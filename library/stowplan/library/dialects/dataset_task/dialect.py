"""The dialect of the kind DatasetTask."""

from collections.abc import Iterator
from dataclasses import replace

from stowplan.library.dialects.dataset.places import reading as places
from stowplan.library.dialects.dataset_task import copy_rules, task
from stowplan.library.dialects.dataset_task.lower import lower
from stowplan.library.dialects.reading.api import DataLoss, Reading
from stowplan.library.dialects.reading.progress import files
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Deletion, Dialect, Operation, Reference, Relations, SecretKeys
from stowplan.library.manifest import Json, Unit
from stowplan.schema.kinds.kind import values
from stowplan.schema.kinds.native.dataset_task import TASKS, DatasetTask
from stowplan.schema.meta import SpecId


def relations(model: DatasetTask, context: Context) -> Relations:
    """Return the dataset that the task works on and the claim that it copies to."""
    namespace = context.namespace(model.metadata.namespace)
    references = (Reference(SpecId("Dataset", namespace, model.spec.dataset_ref.name), task.DATASET),)
    repeats = model.spec.schedule is not None
    done = task.operation(model)
    own = Relations(
        references,
        operation=None if repeats or model.spec.suspend else Operation(TASKS.get(done, ""), task.DATASET),
        repeats=repeats,
        changes=done in ("sync", "remove") and not model.spec.suspend,
        deletes=Deletion("", ("spec", "sync", "delete")) if model.spec.sync and model.spec.sync.delete else None,
    )
    claim = model.spec.copy_.to.claim if model.spec.copy_ else None
    if claim is None:
        return own
    at = (*copy_rules.TO, "claim")
    path = claim_paths.canonical(claim.sub_path or "")
    write = Write(namespace, claim.name, path, mirror=False, at=(*at, "subPath" if claim.sub_path else "name"))
    return replace(own, named=((claim.name, (*at, "name")),), write=write)


def _loss(document: Json) -> DataLoss | None:
    spec = next((each for each, _ in values(document, "spec") if isinstance(each, dict)), {})
    paths = [each for each, _ in values(spec, "remove", "paths", "*")]
    if paths:
        return DataLoss(f"It removes {', '.join(map(str, paths))} from the dataset.", rerun=True)
    if any(each for each, _ in values(spec, "sync", "delete")):
        return DataLoss("Its sync deletes what the source lacks.", rerun=True)
    return DataLoss("", rerun=True) if "evict" in spec else None


def _progress(resource: Json) -> str:
    done = (word for field, word in TASKS.items() if field in (resource.get("spec") or {}))
    return files(resource, next(done, ""))


READING = Reading(
    sinks=places.addresses("spec", "copy", "to"),
    loss=_loss,
    progress=_progress,
)


def _secrets(model: DatasetTask, unit: Unit) -> Iterator[SecretKeys]:
    """Yield those of a copy; other tasks use the Secrets of their dataset."""
    if model.spec.copy_:
        (place,) = model.spec.copy_.to.model_dump(exclude_none=True)
        yield from (SecretKeys(each, (*copy_rules.TO, place, "secretRef", "name")) for each in unit.externals)


DIALECT = Dialect(lower, relations, reading=READING, secrets=_secrets)
