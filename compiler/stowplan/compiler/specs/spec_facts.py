"""Facts about specs for rules across specs."""

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
    """What other specs ask of a `spec`, of which `after` are those that must be done first; the rest is inherited."""

    spec: Spec
    after: tuple[Predecessor, ...] = ()

    @property
    def id(self) -> SpecId:
        return self.spec.id


def of_spec(spec: Spec, context: Context) -> SpecFacts:
    """Return the facts of a spec that has no errors."""
    relations = DIALECTS[spec.id.kind].relations(spec.model, context)
    own = {each.name: getattr(relations, each.name) for each in fields(Relations)}
    return SpecFacts(**own, spec=spec, after=run_order.of_model(spec.model, spec.id.namespace))
