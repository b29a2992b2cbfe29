"""Values that survive the way to Node and back.

Values travel as JSON that also contains jsii's own marks. Almost all values come back unchanged; this module knows the
exceptions. Measured with cdk8s 2.70, jsii 1.142; `tests/unit/library/composition/test_crossing.py` checks both halves
of the list.
"""

import math
from typing import Any

from stowplan.schema.diagnostics import FieldPath, dotted

SAFE_INTEGER = 2**53 - 1
"""Largest whole number that a JavaScript number represents exactly and distinctly."""

_MARKS = ("$jsii.byref", "$jsii.date", "$jsii.enum", "$jsii.map")


class CrossingError(ValueError):
    """Value that cdk8s cannot carry unchanged. `path` is its place in the manifest."""

    def __init__(self, path: FieldPath, reason: str) -> None:
        super().__init__(f"{dotted(path)}: {reason}")
        self.path = path


def check_crossing(value: Any, path: FieldPath = ()) -> None:
    """Raise `CrossingError` for the first value that would come back changed.

    These are: whole numbers beyond 2^53 (rounded), floats without a fraction (`1.0` returns as `1`) or not finite (no
    JSON), null in a map (dropped), the key `__proto__` (refused by jsii), and a map whose only key is one of jsii's
    marks (read as a reference on return). Kubernetes allows none of these keys anywhere.
    """
    match value:
        case dict():
            _check_keys(value, path)
            for key, below in value.items():
                check_crossing(below, (*path, key))
        case list():
            for index, below in enumerate(value):
                check_crossing(below, (*path, index))
        case bool() | str() | None:
            pass
        case int() if abs(value) > SAFE_INTEGER:
            raise CrossingError(path, f"{'-' if value < 0 else ''}2^53 and beyond cannot be carried exactly")
        case float() if not math.isfinite(value) or value.is_integer():
            raise CrossingError(path, f"the float {value} cannot be carried exactly; write a whole number")
        case int() | float():
            pass
        case _:
            raise CrossingError(path, f"{type(value).__name__} is not a JSON type")


def _check_keys(value: dict[Any, Any], path: FieldPath) -> None:
    """Raise for keys that jsii interprets, and for nulls."""
    for key, below in value.items():
        if not isinstance(key, str):
            raise CrossingError(path, f"the key {key!r} is not a string")
        if key == "__proto__" or (len(value) == 1 and key in _MARKS):
            raise CrossingError((*path, key), "this key cannot be carried")
        if below is None:
            raise CrossingError((*path, key), "null cannot be carried in a map; leave the key out")


def crosses(value: Any) -> bool:
    """Return whether `value` comes back from Node unchanged."""
    try:
        check_crossing(value)
    except CrossingError:
        return False
    return True
