"""Small units to compose."""

from typing import Any

from stowplan.compiler.lowering.app_checks import AppChecks
from stowplan.library.composition.tree import rendered
from stowplan.library.manifest import Json, Manifest, Part, Unit
from stowplan.schema.meta import SpecId

SPEC = SpecId("SampleSet", "vision", "flowers")
CHECKS = AppChecks(lambda document, _: document)
"""The checks of the command line, of a repository without environments and pins."""


def body(kind: str = "ConfigMap", name: str = "flowers", namespace: str = "vision", /, **fields: Any) -> Json:
    """One object; `metadata` among the fields is added to name and namespace, an empty namespace is left out."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": fields.pop("apiVersion", "v1"), "kind": kind, "metadata": metadata, **fields}


def unit(*bodies: Json, spec: SpecId = SPEC) -> Unit:
    """A unit with one part, whose stems are the names. Objects without a namespace are of the cluster."""
    return Unit(spec, (Part("part", tuple(map(_manifest, bodies))),))


def _manifest(given: Json) -> Manifest:
    return Manifest(given, given["metadata"]["name"], clustered="namespace" not in given["metadata"])


def seen(given: Unit) -> list[Json]:
    """The objects of a unit with what its chart gives to them."""
    return [manifest.body for manifest in rendered(given).manifests]
