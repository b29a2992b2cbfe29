"""What was edited in a spec since the last run: the difference of its custom resources."""

from collections.abc import Iterator, Mapping
from typing import Any

from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.manifest_fields import mapping
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId, SpecId

_DATASET = "SampleSet"


def custom_resource(spec: SpecId, objects: Objects) -> Object | None:
    """The custom resource that was compiled from a spec."""
    own = (obj for obj in objects.of_kind(spec.kind) if (obj.id.namespace, obj.id.name) == (spec.namespace, spec.name))
    return next(own, None)


def edited(spec: SpecId, objects: Objects, previous: Mapping[ObjectId, Json]) -> tuple[FieldPath, ...]:
    """The fields of a spec that differ from the last run, as paths in its document, sorted by the order of keys.

    Where nothing of it was edited but the dataset it refers to was, that is the reference.
    """
    obj = custom_resource(spec, objects)
    if obj is None or obj.id not in previous:
        return ()
    own = tuple(_differences(("spec",), previous[obj.id].get("spec"), obj.body.get("spec")))
    name = mapping(obj.body, "spec", "sampleSetRef").get("name")
    if own or not isinstance(name, str) or spec.kind == _DATASET:
        return own
    return (
        (("spec", "sampleSetRef", "name"),) if edited(SpecId(_DATASET, spec.namespace, name), objects, previous) else ()
    )


def _differences(path: FieldPath, before: Any, after: Any) -> Iterator[FieldPath]:
    """The deepest fields that differ; a list as a whole where items came or went."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from _differences((*path, key), before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences((*path, index), old, new)
    elif before != after:
        yield path
