"""Canonical JSON of plain data: sorted keys, and only the escapes that JSON requires."""

import json
from typing import Any

import orjson

_COMPACT = orjson.OPT_SORT_KEYS
_INDENTED = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2


def canonical(value: Any) -> bytes:
    """Return JSON in one line, without spaces."""
    try:
        return orjson.dumps(value, option=_COMPACT)
    except orjson.JSONEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def indented(value: Any) -> bytes:
    """Return JSON with two spaces per level."""
    try:
        return orjson.dumps(value, option=_INDENTED)
    except orjson.JSONEncodeError:
        return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False).encode()
