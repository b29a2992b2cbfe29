"""The dialect of the kind Training."""

from stowplan.library.dialects import mounted_claims
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Reference, Relations
from stowplan.library.dialects.training import rules
from stowplan.library.dialects.training.lower import lower
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.meta import SpecId


def relations(model: Training, context: Context) -> Relations:
    """Return what the job shares with other specs: datasets, the pods that mount them, and claims in the template."""
    home = context.namespace(model.metadata.namespace)
    named = tuple(
        Reference(SpecId("Dataset", home, each.name), ("spec", "datasets", index, "name"))
        for index, each in enumerate(model.spec.datasets or ())
    )
    pods = model.spec.num_nodes
    mounted = tuple(mounted_claims.of_template(model.spec.template, pods, "the job", ("spec", "template")))
    return Relations(named, pods=pods, mounted=mounted)


DIALECT = Dialect(lower, relations, rules.findings)
