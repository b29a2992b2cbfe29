"""Will the API server of Kubernetes accept each CustomResourceDefinition?"""

from stowplan.compiler.checks.objects.finding import ObjectFinding, about, lenient
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.schema.export import structural
from stowplan.schema.export.shipped_crds import custom_resource_definitions

KIND = "CustomResourceDefinition"


def check(objects: Objects) -> list[ObjectFinding]:
    """Return findings for schemas of CRDs that are not structural, and for CRDs that are too large.

    Those that Stowplan ships are sound: its own tests check them.
    """
    shipped = [each["spec"] for each in custom_resource_definitions()]
    foreign = (obj for obj in objects.of_kind(KIND) if obj.body.get("spec") not in shipped)
    return [found for obj in foreign for found in (*_structure(obj), *_size(obj))]


def _structure(obj: Object) -> list[ObjectFinding]:
    found = []
    for index, version in enumerate(items(obj.body, "spec", "versions")):
        root = ("spec", "versions", index, "schema", "openAPIV3Schema")
        for path, message in structural.problems(mapping(version, "schema", "openAPIV3Schema")):
            sentence = f"The schema is not structural: {message}."
            found.append(about(obj, "SP550", (*root, *path), sentence, "Change the schema."))
    return found


def _size(obj: Object) -> list[ObjectFinding]:
    """Return findings about the size of a CRD.

    For a CRD that is not Stowplan's they are warnings: Argo CD with server-side apply can still write it.
    """
    return [
        lenient(obj, "SP551", path, f"The CRD {message}.", "Shorten the descriptions.")
        for path, message in structural.size_problems(obj.body)
    ]
