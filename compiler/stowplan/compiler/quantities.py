"""Kubernetes quantities as numbers."""

import re
from decimal import Decimal

_FORM = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([KMGTPE]i)|([numkMGTPE])|([eE][+-]?[0-9]+))?")
_POWERS = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def amount(quantity: str | float) -> Decimal:
    """The exact number that a quantity such as `500m` or `1Gi` stands for.

    What is no quantity is a bug of the caller, who has checked it by its schema: `ValueError`.
    """
    found = _FORM.fullmatch(str(quantity))
    if found is None:
        raise ValueError(f"no quantity: {quantity}")
    number, binary, decimal, exponent = found.groups()
    if binary:
        return Decimal(number) * 1024 ** (_BINARY.index(binary) + 1)
    return Decimal(number) * Decimal(10) ** (_POWERS[decimal] if decimal else int(exponent[1:]) if exponent else 0)
