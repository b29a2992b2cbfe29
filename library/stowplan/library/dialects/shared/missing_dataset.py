"""Datasets that specs name and that do not exist."""

from collections.abc import Callable, Sequence

from stowplan.library.dialects.shared.context import Context
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.meta import SpecId


def findings(
    spec: SpecId, at: FieldPath, context: Context, elsewhere: Callable[[Sequence[str]], Finding]
) -> list[Finding]:
    """Return a finding about the missing dataset `spec`, which the field at `at` names.

    Return an empty list if its document has errors, or may be in a file that has some: they are reported already.
    `elsewhere` makes the finding if other namespaces, of which it gets the names, have a dataset of this name.
    """
    if context.incomplete or spec in context.refused:
        return []
    present = [each for each in context.datasets if each.kind == spec.kind]
    others = sorted(each.namespace for each in present if each.name == spec.name)
    if others:
        return [elsewhere(others)]
    here = [each.name for each in present if each.namespace == spec.namespace]
    message = f"There is no {spec.kind} {spec.name} in namespace {spec.namespace}."
    return [finding("SP302", at, message, did_you_mean(spec.name, here) if here else "Add it to the specs.")]
