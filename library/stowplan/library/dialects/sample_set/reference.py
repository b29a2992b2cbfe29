"""References of other kinds to a SampleSet, always as `spec.sampleSetRef.name`."""

from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Reference
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.kinds.paddle_job import DatasetMount
from stowplan.schema.meta import NamedReference, SpecId

_PATH: FieldPath = ("spec", "sampleSetRef", "name")


def references(reference: NamedReference | DatasetMount | None, namespace: str) -> tuple[Reference, ...]:
    """Return the reference in the field `sampleSetRef` of a spec in `namespace`; empty if the field is missing."""
    return (Reference(SpecId("SampleSet", namespace, reference.name or ""), _PATH),) if reference else ()


def missing(name: str, namespace: str, context: Context) -> list[Finding]:
    """Return a finding about the missing SampleSet `name`.

    Return an empty list if its document has errors, or may be in a file that has some: they are reported already.
    """
    if context.incomplete or SpecId("SampleSet", namespace, name) in context.refused:
        return []
    present = [each for each in context.datasets if each.kind == "SampleSet"]
    elsewhere = sorted(each.namespace for each in present if each.name == name)
    message = f"There is no SampleSet {name} in namespace {namespace}"
    if elsewhere:
        hint = "Use a SampleSet of the same namespace: move one of the two, or add a `noSync` SampleSet here."
        return [finding("SP302", _PATH, f"{message}, only in {', '.join(elsewhere)}.", hint)]
    here = [each.name for each in present if each.namespace == namespace]
    return [finding("SP302", _PATH, f"{message}.", did_you_mean(name, here) if here else "Add it to the specs.")]
