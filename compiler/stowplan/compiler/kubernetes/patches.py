"""Schemas of strategic merge patches: those of the patched types, without the fields that only the whole must have."""

from typing import Any

from stowplan.compiler.kubernetes.schema_checker import JsonSchema
from stowplan.schema.meta import PATCH

_PARTIAL = frozenset(f"io.k8s.api.core.v1.{name}" for name in ("Container", "PodSpec"))
"""Types in a pod template whose values a patch may give in part.

All others that have required fields are items of lists, and these fields are the keys by which items are merged, or
the items are small.
"""

_ANY_DIRECTIVE: JsonSchema = {"patternProperties": {r"^\$": {}}}


def patch_schema(schema: JsonSchema) -> JsonSchema:
    """Return the schema of a patch for values of a definition, which refers to patches of the types in `_PARTIAL`."""
    own = {key: _referring(value) for key, value in schema.items() if key != "required"} | _ANY_DIRECTIVE
    if "allOf" in own:
        own["allOf"] = [rule for rule in own["allOf"] if "required" not in rule or "if" in rule or "not" in rule]
    return own


def without_directives(value: Any) -> Any:
    """Return a copy of a patch without its directives, such as `$patch`, which are keys that begin with `$`."""
    if isinstance(value, dict):
        return {key: without_directives(below) for key, below in value.items() if not str(key).startswith("$")}
    return [without_directives(item) for item in value] if isinstance(value, list) else value


def _referring(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _patch_of(below) if key == "$ref" else _referring(below) for key, below in node.items()}
    return [_referring(item) for item in node] if isinstance(node, list) else node


def _patch_of(reference: str) -> str:
    place, slash, name = reference.rpartition("/")
    return f"{place}{slash}{PATCH}{name}" if name in _PARTIAL else reference
