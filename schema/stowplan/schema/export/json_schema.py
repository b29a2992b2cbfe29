"""JSON Schemas for editors, generated from the models.

They are draft-07, which every editor supports, and each file is self-contained. They leave out what depends on the
platform: an embedded Kubernetes value is any mapping, or at most has the shape of a small type. The compiler checks it
against the platform's Kubernetes version.
"""

import re

from stowplan.schema.export.plain_schema import Schema, plain_schema
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import Model
from stowplan.schema.platform.platform import Platform

DIALECT = "http://json-schema.org/draft-07/schema#"
SUFFIX = ".schema.json"
COMBINED = f"stowplan{SUFFIX}"
"""Name of the file with the schema for any document; it applies the rules for the document's kind."""

MODELS: tuple[type[Model], ...] = (Platform, *KINDS.values())
"""Models of all kinds that users write."""


def schemas() -> dict[str, Schema]:
    """Return all schemas by file name: `<kind>.schema.json` for each kind, and the combined one."""
    alone = {f"{model.__name__.lower()}{SUFFIX}": _document(model) for model in MODELS}
    return alone | {COMBINED: _combined()}


def _document(model: type[Model]) -> Schema:
    return {"$schema": DIALECT, "title": model.__name__} | plain_schema(model)


def _our_groups() -> str:
    """Return a pattern for an `apiVersion` in one of Stowplan's API groups, in any version."""
    versions = (version for model in MODELS for version in plain_schema(model)["properties"]["apiVersion"]["enum"])
    groups = sorted({version.partition("/")[0] for version in versions})
    return f"^({'|'.join(map(re.escape, groups))})(/|$)"


def _combined() -> Schema:
    """Return the schema for any document.

    It has one `if` per kind, not `oneOf`, so that an editor reports only the problems of the document's own kind.
    Documents of other API groups may be plain Kubernetes objects that the platform allows, so the schema accepts them.
    It also accepts an empty document, for example after a last `---`.
    """
    return {
        "$schema": DIALECT,
        "title": "Stowplan",
        "description": "A document that Stowplan reads.",
        "type": ["object", "null"],
        "required": ["kind"],
        "properties": {
            "apiVersion": {"type": "string", "description": "Version of the kind."},
            "kind": {"type": "string", "description": "What the document describes."},
        },
        "if": {"required": ["apiVersion"], "properties": {"apiVersion": {"not": {"pattern": _our_groups()}}}},
        "else": {"properties": {"kind": {"enum": sorted(model.__name__ for model in MODELS)}}},
        "allOf": [_if_kind(model) for model in MODELS],
        "definitions": {model.__name__: {"title": model.__name__} | plain_schema(model) for model in MODELS},
    }


def _if_kind(model: type[Model]) -> Schema:
    name = model.__name__
    return {
        "if": {"type": "object", "required": ["kind"], "properties": {"kind": {"const": name}}},
        "then": {"$ref": f"#/definitions/{name}"},
    }
