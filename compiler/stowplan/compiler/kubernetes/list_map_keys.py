"""Lists that server-side apply merges by a key, which is one field or several fields of the items, such as `name`.

The API server of Kubernetes refuses an apply with two items of the same key (structured-merge-diff, all supported
versions).
"""

from collections.abc import Sequence
from typing import Any

LIST_MAP_KEYS = "x-kubernetes-list-map-keys"

_DEFAULTS = {"protocol": "TCP"}
"""The values of fields of keys that are missing in an item, from the OpenAPI document of Kubernetes."""


class UniqueKeys:
    """The keyword `x-kubernetes-list-map-keys` for the validator `jsonschema_rs`. `keys` are names of fields."""

    def __init__(self, _parent: dict[str, Any], keys: list[str], _path: list[str | int]) -> None:
        self._keys = keys

    def validate(self, items: Any) -> None:
        """Raise `ValueError` with the key in words if two items have the same key."""
        if found := repeated_key(items, self._keys):
            raise ValueError(found)


def repeated_key(items: Any, keys: Sequence[str]) -> str | None:
    """Return in words the key that two items of a list have, such as `name "a"`; None if there is none."""
    seen = set()
    for item in items if isinstance(items, list) and len(items) > 1 else ():
        if isinstance(item, dict):
            key = tuple([str(item.get(name, _DEFAULTS.get(name, ""))) for name in keys])
            if key in seen:
                return " and ".join(f'{name} "{value}"' for name, value in zip(keys, key, strict=True))
            seen.add(key)
    return None
