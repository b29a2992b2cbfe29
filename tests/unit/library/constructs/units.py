"""Small units to compose."""

from typing import Any

from stowplan.library.manifest import Json, Manifest, Unit
from stowplan.schema.meta import SpecId

SPEC = SpecId("SampleSet", "vision", "flowers")


def body(kind: str = "ConfigMap", name: str = "flowers", namespace: str = "vision", /, **fields: Any) -> Json:
    """One object; `metadata` among the fields is added to name and namespace, an empty namespace is left out."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": fields.pop("apiVersion", "v1"), "kind": kind, "metadata": metadata, **fields}


def unit(*bodies: Json, spec: SpecId = SPEC) -> Unit:
    """A unit whose stems are the names."""
    return Unit(spec, tuple(Manifest(each, each["metadata"]["name"]) for each in bodies))
