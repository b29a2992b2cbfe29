"""Do pods of users run as an account of Stowplan's agents that this output holds?"""

from stowplan.compiler.checks.across_specs.dangling_references import references_to
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import is_plain
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.checks.pods.accounts import forbidden, is_ours
from stowplan.schema.kinds.table import TRAINING_KINDS


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return a finding for each pod of a user that names a service account of this output which Stowplan writes.

    `pods.accounts` recognises accounts by the endings of their names. It misses long names, which are shortened; only
    these are checked here.
    """
    own = {each.id for each in graph.of_kind("ServiceAccount") if each.authored and not is_ours(each.id.name)}
    return [
        forbidden(each.owner, each.path, each.target.name)
        for each in references_to(graph, own)
        if each.path[-1] in ("serviceAccountName", "serviceAccount") and _is_of_user(each.owner, graph)
    ]


def _is_of_user(owner: ObjectSummary, graph: ObjectGraph) -> bool:
    training = owner.spec is not None and owner.spec.kind in TRAINING_KINDS
    return training or is_plain(owner, graph.platform)
