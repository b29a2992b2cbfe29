"""The dialect of the kind SampleJob."""

from stowplan.library.dialects.reading.api import DataLoss, Reading, addresses
from stowplan.library.dialects.reading.progress import files
from stowplan.library.dialects.sample_job.lower import lower
from stowplan.library.dialects.sample_set.reference import references
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Deletion, Dialect, Operation, Relations
from stowplan.library.manifest import Json
from stowplan.schema.kinds.kind import values
from stowplan.schema.kinds.sample_job import SampleJob


def relations(model: SampleJob, context: Context) -> Relations:
    """Return the dataset that the task works on."""
    namespace = context.namespace(model.metadata.namespace)
    repeats = model.spec.schedule is not None
    return Relations(
        references(model.spec.sample_set_ref, namespace),
        operation=None if repeats or model.spec.terminate else Operation(model.spec.type or "", ("spec", "type")),
        repeats=repeats,
        deletes=_deletes(model),
    )


def _deletes(model: SampleJob) -> Deletion | None:
    options = model.spec.sync_options
    if model.spec.type != "sync" or options is None or not options.delete_dst:
        return None
    return Deletion(claim_paths.canonical(options.destination or ""), ("spec", "syncOptions", "delete-dst"))


def _loss(document: Json) -> DataLoss | None:
    spec = next((each for each, _ in values(document, "spec") if isinstance(each, dict)), {})
    if spec.get("type") == "rmr":
        paths = (str(each) for each, _ in values(spec, "rmrOptions", "paths", "*"))
        return DataLoss(f"It removes {', '.join(paths)} from the dataset.", rerun=True)
    if any(each for side in ("delete-src", "delete-dst") for each, _ in values(spec, "syncOptions", side)):
        return DataLoss("Its sync deletes what only one side has.", rerun=True)
    return DataLoss("", rerun=True) if spec.get("type") == "clear" else None


READING = Reading(
    sources=addresses("spec", "syncOptions", "source"),
    loss=_loss,
    progress=lambda resource: files(resource, (resource.get("spec") or {}).get("type") or ""),
)

DIALECT = Dialect(lower, relations, reading=READING)
