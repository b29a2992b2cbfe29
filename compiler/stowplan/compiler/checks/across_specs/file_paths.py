"""Can each object be a file of its own?"""

from dataclasses import replace

from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.output import paths


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return a finding for each object whose path in the output is unsafe or clashes with that of another object.

    Of several objects with the same group, kind, namespace and name only one is checked; `duplicates` reports the
    others.
    """
    objects = {each.id: each for each in graph}
    return [
        ObjectFinding(each.id, replace(found, path=("metadata", "name")), each.spec, each.source)
        for each, found in paths.problems([*objects.values()])
    ]
