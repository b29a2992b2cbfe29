"""Kubernetes' strategic merge patch on plain data (k8s.io/apimachinery, `strategicpatch.StrategicMergePatch`).

`generated/merge_keys.json` says which lists are merged, and by which field of their items. `make generate` writes it
from the OpenAPI documents of Kubernetes.
"""

from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

import orjson

_FILE = Path(__file__).with_name("generated") / "merge_keys.json"
_DIRECTIVE = "$patch"
_KEPT = "$retainKeys"
_REMOVED = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"

_Json = dict[str, Any]
_Path = tuple[str | int, ...]


class PatchError(ValueError):
    """A patch that Kubernetes would refuse. `path` leads to the place in the patch; the text says what is wrong."""

    def __init__(self, message: str, path: _Path) -> None:
        super().__init__(message)
        self.path = path


Fields = dict[str, dict[str, str]]
"""How the fields of a type are merged, by name: `of`, `strategy` and `key` as far as a field has them.

`of` is the name of the definition of the value, of the items of a list or of the values of a mapping; absent for
scalars. `strategy` is `merge` for lists whose items are merged, `replace` for mappings that are not merged, absent for
all others. `key` is the field by which items of a merged list are equal; absent for a list of scalars.
"""


def of_items(definition: str) -> dict[str, str]:
    """Return the value in `Fields` for lists of `definition` in pod templates; it has only `of` if none is merged."""
    same = (field for fields in _definitions().values() for field in fields.values() if field.get("of") == definition)
    return next((field for field in same if field.get("strategy") == "merge"), {"of": definition})


def merge(base: _Json, patch: _Json, definition: str | Fields) -> _Json:
    """Return `base` with `patch` merged over it, as the API server merges `application/strategic-merge-patch+json`.

    `definition` is the name of the type of both, `io.k8s.api.core.v1.PodTemplateSpec` or a type of a value in it, or
    the fields of another type. Mappings are merged field by field, null removes a field, and scalars are replaced. A
    list is merged item by item where the OpenAPI document of Kubernetes says so, else it is replaced. `$patch: replace
    | delete | merge`, `$retainKeys` and `$deleteFromPrimitiveList/<list>` are obeyed, `$setElementOrder/<list>` is
    ignored. New items come before the items of `base` that the patch does not name, as in Kubernetes.

    Neither argument is changed; the result may share values with them. Raises `PatchError` for an item without the
    field by which its list is merged and for a wrong directive, and `KeyError` for another definition.
    """
    return _mapping(base, patch, _definitions()[definition] if isinstance(definition, str) else definition, ())


@cache
def _definitions() -> dict[str, Fields]:
    """Return the fields of each type whose values are mappings or lists."""
    definitions: dict[str, Fields] = orjson.loads(_FILE.read_bytes())
    return definitions


def _mapping(base: _Json, patch: _Json, fields: Fields, path: _Path) -> _Json:
    directive = _directive(patch, path)
    if directive == "delete":
        return {}
    result = {} if directive == "replace" else dict(base)
    if _KEPT in patch:
        _require_list(patch[_KEPT], (*path, _KEPT))
        result = {name: value for name, value in result.items() if name in patch[_KEPT]}
    for name, value in patch.items():
        if name.startswith(_REMOVED):
            listed = name.removeprefix(_REMOVED)
            _require_list(value, (*path, name))
            if isinstance(result.get(listed), list):
                result[listed] = [item for item in result[listed] if item not in value]
        elif name.startswith("$") and name not in (_DIRECTIVE, _KEPT) and not name.startswith(_ORDER):
            raise PatchError(f'"{name}" is not a directive of a strategic merge patch.', (*path, name))
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif not name.startswith("$"):
            result[name] = _value(result.get(name), value, fields.get(name, {}), (*path, name))
    return result


def _value(base: Any, patch: Any, field: dict[str, str], path: _Path) -> Any:
    """Return a merged value. Without a mapping or list in `base`, it is the patch without its nulls and directives."""
    strategy = field.get("strategy")
    if isinstance(patch, dict):
        fields = _definitions().get(field.get("of", ""), {})
        return _mapping(base if isinstance(base, dict) and strategy != "replace" else {}, patch, fields, path)
    if isinstance(patch, list):
        if strategy == "merge":
            return _merged(base if isinstance(base, list) else [], patch, field, path)
        return [_value(None, item, {"of": field.get("of", "")}, (*path, index)) for index, item in enumerate(patch)]
    return patch


def _merged(base: list[Any], patch: list[Any], field: dict[str, str], path: _Path) -> list[Any]:
    """Return a list whose items are merged: those with an equal key, or equal scalars."""
    key = field.get("key")
    if key is None:
        different = {_identity(item, key): item for item in [*base, *patch]}
        return _ordered(list(different.values()), patch, base, key)
    directives = {}
    for index, item in enumerate(patch):
        if not isinstance(item, dict):
            raise PatchError("The items of this list are mappings.", (*path, index))
        directives[index] = _directive(item, (*path, index))
        if directives[index] != "replace" and key not in item:
            raise PatchError(f"The item has no `{key}`, by which Kubernetes merges this list.", (*path, index))
    deleted = [item[key] for index, item in enumerate(patch) if directives[index] == "delete"]
    base = [] if "replace" in directives.values() else [item for item in base if _key(item, key) not in deleted]
    items = list(base)
    merged = [(index, item) for index, item in enumerate(patch) if directives[index] == "merge"]
    for index, item in merged:
        place = next((place for place, old in enumerate(items) if _key(old, key) == item[key]), len(items))
        old = items[place] if place < len(items) else None
        items[place : place + 1] = [_value(old, item, {"of": field["of"]}, (*path, index))]
    return _ordered(items, [item for _, item in merged], base, key)


def _ordered(items: list[Any], patch: list[Any], base: list[Any], key: str | None) -> list[Any]:
    """Return the items of `patch` in its order, and before each the other items that preceded it in `base`."""

    def places(values: list[Any]) -> dict[Hashable, int]:
        return {_identity(value, key): place for place, value in reversed(list(enumerate(values)))}

    order, before = places(patch), places(base)
    named = sorted(
        (item for item in items if _identity(item, key) in order), key=lambda item: order[_identity(item, key)]
    )
    rest = [item for item in items if _identity(item, key) not in order]
    result = []
    for item in named:
        while rest and before[_identity(rest[0], key)] < before.get(_identity(item, key), 0):
            result.append(rest.pop(0))
        result.append(item)
    return result + rest


def _identity(item: Any, key: str | None) -> Hashable:
    """Return what makes items of a merged list equal."""
    found = _key(item, key) if key else item
    return found if isinstance(found, Hashable) else str(found)


def _key(item: Any, key: str) -> Any:
    return item.get(key) if isinstance(item, dict) else item


def _require_list(value: Any, path: _Path) -> None:
    if not isinstance(value, list):
        raise PatchError("The directive has a list.", path)


def _directive(item: _Json, path: _Path) -> str:
    """Return `merge`, `replace` or `delete`."""
    directive = item.get(_DIRECTIVE, "merge")
    if directive not in ("merge", "replace", "delete"):
        raise PatchError(f'"{directive}" is not one of merge, replace and delete.', (*path, _DIRECTIVE))
    return str(directive)
