"""References of other kinds to a SampleSet, always as `spec.sampleSetRef.name`."""

from collections.abc import Sequence

from stowplan.library.dialects.shared import missing_dataset
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Reference
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.paddle_job import DatasetMount
from stowplan.schema.meta import NamedReference, SpecId

_PATH: FieldPath = ("spec", "sampleSetRef", "name")


def references(reference: NamedReference | DatasetMount | None, namespace: str) -> tuple[Reference, ...]:
    """Return the reference in the field `sampleSetRef` of a spec in `namespace`; empty if the field is missing."""
    return (Reference(SpecId("SampleSet", namespace, reference.name or ""), _PATH),) if reference else ()


def missing(name: str, namespace: str, context: Context) -> list[Finding]:
    """Return a finding about the missing SampleSet `name`; an empty list if that is reported already."""

    def elsewhere(others: Sequence[str]) -> Finding:
        message = f"There is no SampleSet {name} in namespace {namespace}, only in {', '.join(others)}."
        hint = "Use a SampleSet of the same namespace: move one of the two, or add a `noSync` SampleSet here."
        return finding("SP302", _PATH, message, hint)

    return missing_dataset.findings(SpecId("SampleSet", namespace, name), _PATH, context, elsewhere)
