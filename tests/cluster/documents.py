"""Generates documents from the OpenAPI schema of a CRD."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

_MOST_FIELDS = 4
"""Optional fields that one object gets at most, so that documents of large schemas stay small."""
_TEXT = st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=8)
_QUANTITIES = st.sampled_from(["1", "500m", "2Gi", "1e3", "0.5"])
_INTEGER_BITS = {"int32": 31, "int64": 53}


def documents(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the schema mostly accepts; those that it refuses after all are for the caller to drop."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return _QUANTITIES if "pattern" in schema else st.integers(0, 1000) | _QUANTITIES
    return _BY_TYPE[schema["type"]](schema)


def _arrays(schema: dict[str, Any]) -> st.SearchStrategy[list[Any]]:
    least = schema.get("minItems", 0)
    return st.lists(documents(schema["items"]), min_size=least, max_size=least + 2)


def _integers(schema: dict[str, Any]) -> st.SearchStrategy[int]:
    least = schema.get("minimum", -3)
    most = schema.get("maximum", 2 ** _INTEGER_BITS[schema.get("format", "int64")] - 1)
    return st.integers(least, min(most, least + 100)) | st.integers(least, most)


def _strings(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    if schema.get("format") == "date-time":
        return st.just("2026-01-02T03:04:05Z")
    least = schema.get("minLength", 0)
    return st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=least, max_size=least + 12)


@st.composite
def _objects(draw: st.DrawFn, schema: dict[str, Any]) -> dict[str, Any]:
    if "additionalProperties" in schema:
        return draw(st.dictionaries(_TEXT, documents(schema["additionalProperties"]), max_size=2))
    properties: dict[str, Any] = schema.get("properties", {})
    names = list(schema.get("required", []))
    if optional := sorted(set(properties) - set(names)):
        names += draw(st.lists(st.sampled_from(optional), unique=True, max_size=_MOST_FIELDS))
    return {name: draw(documents(properties[name])) for name in names}


_BY_TYPE: dict[str, Callable[[dict[str, Any]], st.SearchStrategy[Any]]] = {
    "array": _arrays,
    "boolean": lambda _: st.booleans(),
    "integer": _integers,
    "object": _objects,
    "string": _strings,
}
