"""Facts about specs for rules across specs, which need neither their models nor their documents."""

from dataclasses import dataclass, fields

from stowplan.compiler.model import Spec
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Relations
from stowplan.library.dialects.shared.run_order import Predecessor
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFacts(Relations):
    """Facts about one spec for the checks of other specs.

    `file` and `index` identify its document. `digest` covers the spec, and after `resolve` also the datasets
    of a task. `run_digest` covers what its run depends on, and after `resolve` also the `place` of the datasets of a
    task: a digest of where their data is. `after` are the specs that must be done first. The other fields are
    inherited.
    """

    id: SpecId
    file: str
    index: int
    digest: str
    run_digest: str = ""
    place: str = ""
    after: tuple[Predecessor, ...] = ()


def of_spec(spec: Spec, context: Context) -> SpecFacts:
    """Return the facts of a spec that has no errors."""
    relations, namespace = DIALECTS[spec.id.kind].relations(spec.model, context), spec.id.namespace
    return SpecFacts(
        **{each.name: getattr(relations, each.name) for each in fields(Relations)},
        id=spec.id,
        file=spec.document.file,
        index=spec.document.index,
        digest=spec.digest,
        run_digest=spec.run_digest,
        place=spec.place,
        after=run_order.of_model(spec.model, namespace),
    )
