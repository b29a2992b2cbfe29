"""Is each object written once, and can it be a file of its own?"""

from collections import Counter
from dataclasses import replace

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.output import paths
from stowplan.schema.meta import ObjectId


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return one finding for each object with the group, kind, namespace and name of an earlier object.

    The version is no part of the identity, as in the API server. Of two such objects Argo CD would apply the last one,
    with a warning.
    """
    times = Counter(each.id for each in graph.everything)
    repeated = [each for each in graph.everything if times[each.id] > 1 and each.id.name]
    first: dict[ObjectId, ObjectSummary] = {}
    found = []
    for each in sorted(repeated, key=lambda summary: summary.order):
        other = first.setdefault(each.id, each)
        if other is not each:
            message = f"The object is compiled twice: {_origin(other)} and {_origin(each)} both make it."
            hint = "Rename one of the two, or remove it."
            found.append(about(each, "SP503", ("metadata", "name"), message, hint))
    return found


def _origin(summary: ObjectSummary) -> str:
    return str(summary.spec) if summary.spec else summary.source or "the platform file"


def check_paths(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return a finding for each object whose path in the output is unsafe or clashes with that of another object.

    Of several objects with the same group, kind, namespace and name only one is checked; `check` reports the others.
    """
    objects = {each.id: each for each in graph}
    return [
        ObjectFinding(each.id, replace(found, path=("metadata", "name")), each.spec, each.source)
        for each, found in paths.problems([*objects.values()])
    ]
