"""Lists that server-side apply merges by key: no two of their items may have the same key.

The API server refuses an apply with two such items (structured-merge-diff, all supported versions).
"""

from typing import Any

LIST_MAP_KEYS = "x-kubernetes-list-map-keys"

_DEFAULTS = {"protocol": "TCP"}
"""The values of missing keys, from the OpenAPI document."""


class UniqueKeys:
    """The keyword `x-kubernetes-list-map-keys` for the validator."""

    def __init__(self, _parent: dict[str, Any], keys: list[str], _path: list[str | int]) -> None:
        self._keys = keys

    def validate(self, items: Any) -> None:
        """Raise `ValueError` with the key in words if two items have the same key."""
        if not isinstance(items, list) or len(items) < 2:
            return
        seen = set()
        for item in items:
            if not isinstance(item, dict):
                continue
            key = tuple([str(item.get(name, _DEFAULTS.get(name, ""))) for name in self._keys])
            if key in seen:
                raise ValueError(" and ".join(f'{name} "{value}"' for name, value in zip(self._keys, key, strict=True)))
            seen.add(key)
