"""The reference of a task to its Dataset."""

from stowplan.library.dialects.shared.context import Context
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.meta import SpecId

KIND = "Dataset"
PATH: FieldPath = ("spec", "datasetRef", "name")


def missing(name: str, namespace: str, context: Context) -> list[Finding]:
    """Return a finding about a Dataset that the namespace lacks.

    Return an empty list if its document has errors, or may be in a file that has some: they are reported already.
    """
    if context.incomplete or SpecId(KIND, namespace, name) in context.refused:
        return []
    present = [each for each in context.datasets if each.kind == KIND]
    elsewhere = sorted(each.namespace for each in present if each.name == name)
    message = f"There is no Dataset {name} in namespace {namespace}"
    if elsewhere:
        hint = (
            f"Write the task in {elsewhere[0]}. To share the data, add a Dataset to {namespace} with the JuiceFS volume"
            f" and the `subPath` of the other one (by default {elsewhere[0]}/{name}), and without `source`."
        )
        return [finding("SP302", PATH, f"{message}, only in {', '.join(elsewhere)}.", hint)]
    here = [each.name for each in present if each.namespace == namespace]
    return [finding("SP302", PATH, f"{message}.", did_you_mean(name, here) if here else "Add it to the specs.")]
