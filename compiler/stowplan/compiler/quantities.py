"""Kubernetes quantities as numbers."""

import re
from decimal import Decimal

_FORM = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([KMGTPE]i)|([numkMGTPE])|([eE][+-]?[0-9]{1,3}))?")
_POWERS = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def is_quantity(value: object) -> bool:
    """Whether it is a quantity such as `500m` or `1Gi`."""
    return _amount(value) is not None


def larger(one: object, other: object) -> bool:
    """Whether both are quantities such as `500m` or `1Gi`, and `one` is the larger."""
    first, second = _amount(one), _amount(other)
    return first is not None and second is not None and first > second


def _amount(quantity: object) -> Decimal | None:
    """The exact number that a quantity stands for; None for what is none, or has an exponent of over three digits."""
    found = _FORM.fullmatch(str(quantity))
    if found is None:
        return None
    number, binary, decimal, exponent = found.groups()
    if binary:
        return Decimal(number) * (1 << 10 * (_BINARY.index(binary) + 1))
    return Decimal(number).scaleb(_POWERS[decimal] if decimal else int(exponent[1:]) if exponent else 0)
