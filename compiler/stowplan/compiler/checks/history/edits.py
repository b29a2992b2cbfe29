"""The edits of a spec since the committed output, found by comparing its old and its new custom resource."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import ObjectId, SpecId


class Edits(NamedTuple):
    """The fields of a spec that differ from the committed output, as paths in its document, sorted by field name.

    If no field of the spec differs, `references` are the datasets that it refers to, with the paths of their names.
    """

    fields: tuple[FieldPath, ...] = ()
    references: tuple[tuple[SpecId, FieldPath], ...] = ()

    def given(self, datasets: frozenset[SpecId]) -> tuple[FieldPath, ...]:
        """Return the paths of the fields to blame for a change: the edited ones of the spec.

        Without any, those that name one of the edited `datasets`; empty if none does.
        """
        return tuple(path for spec, path in self.references if spec in datasets) or self.fields


def custom_resource(spec: SpecId, objects: Objects) -> Object | None:
    """Return the object with the kind, namespace and name of the spec; None if there is none."""
    for obj in objects.of_kind(spec.kind):
        if obj.id[2:] == spec[1:]:
            return obj
    return None


def edits_of(spec: SpecId, objects: Objects, previous: Mapping[ObjectId, Json]) -> Edits:
    """Return the edits of a spec since `previous`, the bodies of committed objects; a new spec has none."""
    obj = custom_resource(spec, objects)
    if obj is None or obj.id not in previous:
        return Edits()
    found = differences(("spec",), previous[obj.id].get("spec"), obj.body.get("spec"))
    own = tuple(path for path, _, _ in found)
    field = KINDS[spec.kind].datasets
    if own or field is None:
        return Edits(own)
    return Edits((), tuple((SpecId(field.kind, spec.namespace, name), path) for name, path in field.names(obj.body)))


def differences(path: FieldPath, before: Any, after: Any) -> Iterator[tuple[FieldPath, Any, Any]]:
    """Yield path, old and new value of the deepest fields that differ, by field name. `path` is that of the two values.

    A list with another length is not searched. A field that is null counts as missing.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from differences((*path, key), before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences((*path, index), old, new)
    elif before != after:
        yield path, before, after
