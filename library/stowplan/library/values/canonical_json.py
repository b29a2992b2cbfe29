"""Canonical JSON of plain data: sorted keys, and only the escapes that JSON requires.

Names and digests are hashes of these bytes, so every release must write the same bytes.
"""

import json
from typing import Any

import orjson

_ASCII = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_COMPACT = orjson.OPT_SORT_KEYS
_INDENTED = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2


def ascii_json(value: Any) -> bytes:
    """Return canonical JSON in one line and in ASCII, for digests of specs and platforms."""
    return _ASCII.encode(value).encode()


def canonical(value: Any) -> bytes:
    """Return canonical JSON in one line, in UTF-8 and without spaces, for hashes in names."""
    try:
        return orjson.dumps(value, option=_COMPACT)
    except orjson.JSONEncodeError:  # an integer beyond 64 bits
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def indented(value: Any) -> bytes:
    """Return canonical JSON in UTF-8, indented by two spaces per level, for files that people read."""
    try:
        return orjson.dumps(value, option=_INDENTED)
    except orjson.JSONEncodeError:  # an integer beyond 64 bits
        return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False).encode()
