"""Conversion between Kubernetes quantities and numbers."""

import re
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Any

_FORM = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([KMGTPE]i)|([numkMGTPE])|([eE][+-]?[0-9]{1,3}))?")
_POWERS = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def amount(quantity: object) -> Decimal | None:
    """Return the exact number of a quantity, 1024 for `1Ki`; None for an invalid one or an exponent over 3 digits."""
    return _amount(str(quantity))


@lru_cache
def _amount(text: str) -> Decimal | None:
    """Return the same as `amount`. It is cached, since a repository uses few different quantities."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    number, binary, decimal, exponent = found.groups()
    if binary:
        return Decimal(number) * (1 << 10 * (_BINARY.index(binary) + 1))
    return Decimal(number).scaleb(_POWERS[decimal] if decimal else int(exponent[1:]) if exponent else 0)


def larger(one: object, other: object) -> bool:
    """Return whether both are quantities, such as `500m` or `1Gi`, and `one` is the larger."""
    first, second = amount(one), amount(other)
    return first is not None and second is not None and first > second


def equal(one: object, other: object) -> bool:
    """Return whether both are quantities of the same amount, such as `1` and `1000m`."""
    first = amount(one)
    return first is not None and first == amount(other)


def text(number: Decimal) -> str:
    """Return a number >= 0 as a quantity: a whole number, with a binary suffix such as `Gi` if possible.

    Other numbers are in thousandths, such as `500m`. Smaller fractions are rounded up, as in Kubernetes.
    """
    thousandths = int((number * 1000).to_integral_value(ROUND_CEILING))
    if thousandths % 1000:
        return f"{thousandths}m"
    whole = thousandths // 1000
    for power in range(len(_BINARY), 0, -1):
        if whole and whole % (1 << 10 * power) == 0:
            return f"{whole >> 10 * power}{_BINARY[power - 1]}"
    return str(whole)


def without_fractions(value: Any) -> Any:
    """Return a copy of plain data with floats as strings, such as `"0.5"` for `0.5`.

    Only quantities can be fractions in pods, and the CRDs of engines allow only strings and whole numbers for them.
    """
    # Most values are strings. A call for each would double the time.
    if isinstance(value, dict):
        return {key: item if isinstance(item, str) else without_fractions(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item if isinstance(item, str) else without_fractions(item) for item in value]
    return f"{Decimal(repr(value)).normalize():f}" if isinstance(value, float) else value
