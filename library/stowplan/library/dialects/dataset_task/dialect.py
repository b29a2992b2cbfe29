"""The dialect of the kind DatasetTask."""

from stowplan.library.dialects.dataset_task import copy_rules, reference, task
from stowplan.library.dialects.dataset_task.lower import lower
from stowplan.library.dialects.shared import claim_paths, run_order
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Deletion, Dialect, Reference, Relations
from stowplan.schema.kinds.native.dataset_task import TASKS, DatasetTask
from stowplan.schema.meta import SpecId


def relations(model: DatasetTask, context: Context) -> Relations:
    """Return the dataset that the task works on, the claim that it copies to, and what it runs after."""
    namespace = context.namespace(model.metadata.namespace)
    references = (Reference(SpecId(reference.KIND, namespace, model.spec.dataset_ref.name), reference.PATH),)
    repeats = model.spec.schedule is not None
    done = task.operation(model)
    own = Relations(
        references,
        after=run_order.of_field(model.spec.run_after, namespace),
        operation="" if repeats or model.spec.suspend else TASKS.get(done, ""),
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
    return own._replace(named=((claim.name, (*at, "name")),), write=write)


DIALECT = Dialect(lower, relations)
