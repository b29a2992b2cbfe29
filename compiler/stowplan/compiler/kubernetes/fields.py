"""Reading of fields of manifests, which may be malformed."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from stowplan.library.manifest import Json, group_of
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId, SpecId

_group = lru_cache(maxsize=1024)(group_of)
"""The group of an apiVersion, for all objects of a group the same string in memory."""
_WAVE = re.compile(r"[+-]?[0-9]+")


def identity(body: Json) -> ObjectId:
    """Return the identity of an object; missing parts are empty strings."""
    own = mapping(body.get("metadata"))
    group = _group(str(body.get("apiVersion", "")))
    return ObjectId(group, str(body.get("kind", "")), str(own.get("namespace", "")), str(own.get("name", "")))


def spec_of(body: Json) -> SpecId | None:
    """Return the spec that an object says it was compiled from; None if its labels name none.

    The name is cut as in a label, so that it is the same for all objects of the spec. The namespace of a volume's spec
    is that of the claim that the volume is for, if no label says it.
    """
    own = mapping(body, "metadata", "labels")
    kind, name = own.get(labels.SPEC_KIND), own.get(labels.SPEC_NAME)
    if not isinstance(kind, str) or not isinstance(name, str):
        return None
    claim = mapping(body, "spec", "claimRef")
    namespace = own.get(labels.SPEC_NAMESPACE) or identity(body).namespace or claim.get("namespace", "")
    return SpecId(kind, str(namespace), name)


def namespace_and_name(body: Json, default_namespace: str) -> tuple[str, str]:
    """Return namespace and name of a namespaced object. Without a name, the second one is empty."""
    own = mapping(body, "metadata")
    return str(own.get("namespace") or default_namespace), str(own.get("name") or "")


def mapping(body: Any, *keys: str) -> Json:
    """Return the mapping to which the field names `keys` lead from `body`; empty if there is none."""
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else {}


def value_at(body: Any, path: FieldPath) -> Any:
    """Return the value at a path of plain data; None if there is none."""
    for part in path:
        if isinstance(body, list):
            body = body[part] if isinstance(part, int) and part < len(body) else None
        else:
            body = body.get(part) if isinstance(body, dict) else None
    return body


def items(body: Any, *keys: str) -> list[Json]:
    """Return the mappings in the list to which the field names `keys` lead from `body`; empty if there is no list.

    Items of other types are left out.
    """
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    if not isinstance(body, list):
        return []
    for item in body:
        if not isinstance(item, dict):
            return [item for item in body if isinstance(item, dict)]
    return body


def texts(value: Any) -> list[str]:
    """Return the items of a list as strings; for any other value an empty list."""
    return list(map(str, value)) if isinstance(value, list) else []


def strings(value: Any, path: FieldPath = (), *, except_below: Collection[str] = ()) -> Iterator[tuple[FieldPath, str]]:
    """Yield path and text of each string in plain data, without those below fields with the names `except_below`.

    `path` is that of the data.
    """
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            if key not in except_below:
                yield from strings(below, (*path, key), except_below=except_below)


def annotation(body: Json, key: str) -> str:
    """Return the value of the annotation `key` of an object; empty if it is missing or not a string."""
    value = mapping(body, "metadata", "annotations").get(key, "")
    return value if isinstance(value, str) else ""


def parts(text: Any) -> tuple[str, ...]:
    """Return the non-empty parts of a comma-separated string, without blanks around them; none for another type."""
    return _parts(text) if isinstance(text, str) and text else ()


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def wave_from(text: Any) -> int:
    """Return the sync wave that Argo CD reads from the value of an annotation; 0 if it is missing or no integer."""
    return int(text) if isinstance(text, str) and text and _WAVE.fullmatch(text) else 0
