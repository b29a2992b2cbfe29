"""Can each object be a file of its own?"""

from dataclasses import replace

from stowplan.compiler import paths
from stowplan.compiler.checks.object_finding import ObjectFinding
from stowplan.compiler.checks.objects import Objects


def check(objects: Objects) -> list[ObjectFinding]:
    """Objects whose paths are unsafe or clash; of two that are the same object, which `duplicates` reports, one."""
    outputs = {obj.id: obj.output for obj in objects}
    return [
        ObjectFinding(output.manifest.id, replace(found, path=("metadata", "name")), output.spec, output.source)
        for output, found in paths.problems([*outputs.values()])
    ]
