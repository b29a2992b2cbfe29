"""Will the API server take each CustomResourceDefinition?"""

from stowplan.compiler.checks.manifests import authored, items, mapping
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Objects
from stowplan.compiler.model import Output
from stowplan.schema import structural
from stowplan.schema.diagnostics import Severity

KIND = "CustomResourceDefinition"


def check(objects: Objects) -> list[ObjectFinding]:
    """The structural rules over the schema of every version, and the size of the whole."""
    return [found for output in objects.of_kind(KIND) for found in (*_structure(output), *_size(output))]


def _structure(output: Output) -> list[ObjectFinding]:
    found = []
    for index, version in enumerate(items(output.manifest.body, "spec", "versions")):
        root = ("spec", "versions", index, "schema", "openAPIV3Schema")
        for path, message in structural.problems(mapping(version, "schema", "openAPIV3Schema")):
            sentence = f"The schema is not structural: {message}."
            found.append(about(output, "SP550", (*root, *path), sentence, "Change the schema."))
    return found


def _size(output: Output) -> list[ObjectFinding]:
    """A warning where the CRD is not ours: Argo CD with server-side apply can still write it."""
    severity = None if authored(output) else Severity.WARNING
    return [
        about(output, "SP551", path, f"{message}.", "Shorten the descriptions.", severity=severity)
        for path, message in structural.size_problems(output.manifest.body)
    ]
