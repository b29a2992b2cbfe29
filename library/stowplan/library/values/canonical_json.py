"""Plain data as JSON that is the same wherever the data is: keys sorted, no escapes but those that must be."""

import json
from typing import Any

import orjson

_COMPACT = orjson.OPT_SORT_KEYS
_INDENTED = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2


def canonical(value: Any) -> bytes:
    """All in one line, without blanks."""
    try:
        return orjson.dumps(value, option=_COMPACT)
    except orjson.JSONEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def indented(value: Any) -> bytes:
    """Two blanks for each level."""
    try:
        return orjson.dumps(value, option=_INDENTED)
    except orjson.JSONEncodeError:
        return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False).encode()
