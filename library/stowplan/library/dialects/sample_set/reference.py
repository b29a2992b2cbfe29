"""References of other kinds to a SampleSet, always as `spec.sampleSetRef.name`."""

from stowplan.library.dialects.shared.context import Context
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.kinds.paddle_job import DatasetMount
from stowplan.schema.meta import NamedReference


def name_of(reference: NamedReference | DatasetMount | None) -> str | None:
    """Return the name in a reference, empty if the reference has none; None without a reference."""
    return (reference.name or "") if reference else None


def missing(name: str, namespace: str, context: Context) -> list[Finding]:
    """Return a finding about the missing SampleSet `name`.

    Return an empty list if its document has errors, or may be in a file that has some: they are reported already.
    """
    if context.incomplete or (namespace, name) in context.refused:
        return []
    path: FieldPath = ("spec", "sampleSetRef", "name")
    elsewhere = sorted(home for home, other in context.sample_sets if other == name)
    message = f"There is no SampleSet {name} in namespace {namespace}"
    if elsewhere:
        hint = "Use a SampleSet of the same namespace: move one of the two, or add a `noSync` SampleSet here."
        return [finding("SP302", path, f"{message}, only in {', '.join(elsewhere)}.", hint)]
    here = [other for home, other in context.sample_sets if home == namespace]
    return [finding("SP302", path, f"{message}.", did_you_mean(name, here) if here else "Add it to the specs.")]
