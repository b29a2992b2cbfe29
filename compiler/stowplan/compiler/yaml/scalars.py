"""Values of YAML scalars by the rules of kubectl and Argo CD.

Source: `resolve.go` of go.yaml.in/yaml/v2 v2.4.4, which Kubernetes 1.37 reaches through sigs.k8s.io/yaml v1.6.0.
Numbers are then converted as Go's encoding/json prints them: 3.0 is 3, 1e3 is 1000.
"""

import math
import re
from collections.abc import Mapping
from decimal import Decimal

Scalar = str | int | float | bool | None

TAG = "tag:yaml.org,2002:"
MERGE_TAG = f"{TAG}merge"

WORDS: Mapping[str, Scalar] = {
    **dict.fromkeys("y Y yes Yes YES true True TRUE on On ON".split(), True),
    **dict.fromkeys("n N no No NO false False FALSE off Off OFF".split(), False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}
_NUMBER_START = frozenset("+-.0123456789")
"""First characters of numbers. A scalar that begins otherwise is a string, unless it is in `WORDS`."""

_INTEGER = re.compile(
    r"([-+]?)(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|0[oO]?(?P<o>[0-7]+)|(?P<d>0|[1-9][0-9]{0,19}))"
)
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LEADING_DOT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_INT64_MIN, _INT64_MAX, _UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1


def plain(text: str) -> Scalar:
    """Return the value of an unquoted scalar without a tag.

    Timestamps and base-60 numbers (`1:30`) are strings, as are numbers too large for a float (`1e400`). Integers
    beyond 64 bits become the nearest float. `.inf` and `.nan` give floats that JSON cannot carry.
    """
    return _as_json(_resolve(text))


def tagged(text: str, tag: str) -> tuple[Scalar, bool]:
    """Return the value of a scalar with an explicit tag, quoted or not, and whether the tag fits the scalar.

    `tag` is the whole tag, such as `tag:yaml.org,2002:int`, or `!`. If it does not fit, the value is `text`. kubectl
    ignores a custom tag and decodes `!!binary`; here neither tag fits any scalar, because users hardly mean the result
    of kubectl.
    """
    kind = tag.removeprefix(TAG)
    if kind in {"!", "str", "timestamp"}:
        return text, True
    value = _resolve(text)
    if kind == _kind(value) or (kind == "float" and _kind(value) == "int"):
        return _as_json(value), True
    return text, False


def _resolve(text: str) -> Scalar:
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    if text[0] == ".":  # Go's ParseFloat, which allows underscores between digits only
        number = float(text) if _LEADING_DOT.fullmatch(text) else math.inf
    else:
        digits = text.replace("_", "")
        integer = _integer(digits)
        if integer is not None:
            return integer
        number = float(digits) if _FLOAT.fullmatch(digits) else math.inf
    return number if math.isfinite(number) else text


def _integer(digits: str) -> int | None:
    """Return the integer of 64 bits that Go's ParseInt or, without a sign, ParseUint reads in base 0; None if none."""
    match = _INTEGER.fullmatch(digits)
    if match is None:
        return None
    base = str(match.lastgroup)
    magnitude = int(match[base], _BASES[base])
    value = -magnitude if match[1] == "-" else magnitude
    largest = _INT64_MAX if match[1] else _UINT64_MAX
    return value if _INT64_MIN <= value <= largest else None


def _kind(value: Scalar) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case _:
            return "str"


def _as_json(value: Scalar) -> Scalar:
    """Return a whole float as the integer that its shortest digits spell, if that has 64 bits; else the value."""
    if isinstance(value, float) and value.is_integer():
        integer = int(Decimal(repr(value)))
        return integer if _INT64_MIN <= integer <= _UINT64_MAX else value
    return value
