"""Check whether a value comes back unchanged from cdk8s in Node.js.

Values go to Node.js and back as JSON. jsii adds dictionary keys of its own to this JSON, such as `$jsii.map`. Nearly
all values come back unchanged; this module finds the others.
Measured with cdk8s 2.70, jsii 1.142; `tests/unit/library/composition/test_crossing.py` lists values of both sorts.
"""

import math
from collections.abc import Iterable
from typing import Any

from stowplan.schema.diagnostics import FieldPath, dotted

SAFE_INTEGER = 2**53 - 1
"""The largest whole number that a JavaScript number holds exactly together with its neighbours."""

_MARKS = ("$jsii.byref", "$jsii.date", "$jsii.enum", "$jsii.map")


class CrossingError(ValueError):
    """A value that would not come back unchanged from cdk8s. `path` leads to the value in the manifest."""

    def __init__(self, path: FieldPath, reason: str) -> None:
        super().__init__(f"{dotted(path)}: {reason}")
        self.path = path


def check_crossing(value: Any, path: FieldPath = ()) -> None:
    """Raise `CrossingError` for the first value in `value` that would come back changed. `path` leads to `value`.

    Such values are: what JSON does not have, whole numbers beyond 2^53 (rounded), floats without a fraction (`1.0`
    returns as `1`) or not finite (no JSON), null in a map (dropped), the key `__proto__` (refused by jsii), and a map
    whose only key is one that jsii adds (read as a reference on return). Kubernetes allows none of these keys anywhere.
    """
    if isinstance(value, dict):
        _check_keys(value, path)
        _check_all(value.items(), path)
    elif isinstance(value, list):
        _check_all(enumerate(value), path)
    elif isinstance(value, int | float):
        _check_number(value, path)
    elif value is not None and not isinstance(value, str):
        raise CrossingError(path, f"{type(value).__name__} is not a JSON type")


def _check_all(values: Iterable[tuple[Any, Any]], path: FieldPath) -> None:
    """Raise `CrossingError` like `check_crossing` for (key or index, value) pairs of the container at `path`."""
    for step, value in values:
        kind = type(value)
        # Most values are strings and small numbers. A call for each of them would take half of the time.
        if kind is not str and not (kind is int and -SAFE_INTEGER <= value <= SAFE_INTEGER):
            check_crossing(value, (*path, step))


def _check_number(value: float, path: FieldPath) -> None:
    if isinstance(value, int):
        if abs(value) > SAFE_INTEGER:
            raise CrossingError(path, f"{'-' if value < 0 else ''}2^53 and beyond cannot be carried exactly")
    elif not math.isfinite(value) or value.is_integer():
        raise CrossingError(path, f"the float {value} cannot be carried exactly; write a whole number")


def _check_keys(value: dict[Any, Any], path: FieldPath) -> None:
    """Raise `CrossingError` for a null, for a key that is not a string, and for a key that jsii interprets."""
    for key, below in value.items():
        if below is None:
            raise CrossingError((*path, key), "null cannot be carried in a map; leave the key out")
        if not isinstance(key, str):
            raise CrossingError(path, f"the key {key!r} is not a string")
        if key == "__proto__" or (len(value) == 1 and key in _MARKS):
            raise CrossingError((*path, key), "this key cannot be carried")


def crosses(value: Any) -> bool:
    """Return whether `value` comes back from Node.js unchanged."""
    try:
        check_crossing(value)
    except CrossingError:
        return False
    return True
