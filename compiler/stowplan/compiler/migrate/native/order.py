"""Specs with an order between them, which names their kinds."""

from collections.abc import Iterator

from stowplan.compiler.migrate.native.scope import Scope
from stowplan.compiler.model import Spec
from stowplan.library.dialects.shared import run_order
from stowplan.schema.diagnostics import Anchor, Finding, finding

_HINT = "Remove the annotation, migrate, and write `runAfter` with the new kinds."


def findings(spec: Spec, scope: Scope) -> Iterator[Finding]:
    """Yield a finding if a spec runs after others, or others run after it: their kinds might be others afterwards."""
    if run_order.of_model(spec.model, spec.id.namespace):
        message = "The annotation names specs by their old kinds."
        yield finding("SP427", run_order.ANNOTATION, message, _HINT, anchor=Anchor.KEY)
    for other in scope.specs:
        if spec.id in (each.spec for each in run_order.of_model(other.model, other.id.namespace)):
            message = f"{other.id} runs after this spec, and names it by its old kind."
            yield finding(
                "SP427", ("metadata", "name"), message, "Remove it there first, and write it anew afterwards."
            )
            return
