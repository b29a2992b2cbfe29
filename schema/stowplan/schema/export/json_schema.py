"""JSON Schemas for editors, generated from the models.

They are draft-07, which every editor supports. For an embedded value of Kubernetes, such as a pod template, they refer
to the file `KUBERNETES`, which must lie in the same folder and hold the definitions of the platform's version.
"""

import re
from collections.abc import Iterator, Mapping

from stowplan.schema.export.plain_schema import Schema, plain_schema
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.editor_rules import LABEL, SUBDOMAIN, pattern
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.lock import Lock
from stowplan.schema.meta import KUBERNETES_TYPE, Model
from stowplan.schema.platform.platform import Platform

KUBERNETES = "kubernetes.schema.json"
"""Name of the file with the definitions of Kubernetes, each below `definitions` by its full name."""

DIALECT = "http://json-schema.org/draft-07/schema#"
SUFFIX = ".schema.json"
COMBINED = f"stowplan{SUFFIX}"
"""Name of the file with the schema for any document; it applies the rules for the document's kind."""

MODELS: tuple[type[Model], ...] = (Platform, *(kind.model for kind in KINDS.values()))
"""Models of all kinds that users write."""


_WORD = "[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?"

_NAMESPACE = pattern(LABEL, "A namespace has lower-case letters, digits and -, with a letter or digit at both ends.")
_SERVICE = pattern(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "The name of a SampleSet has lower-case letters, digits and -, begins with a letter and does not end in -.",
)

_LABELS: Schema = {
    "propertyNames": pattern(f"({LABEL}(\\.{LABEL})*/)?{_WORD}", "A label is named as in app or example.com/app.")
}
_LABEL_VALUES: Schema = _LABELS | {
    "additionalProperties": {
        "type": "string",
        **pattern(
            f"({_WORD})?", "A label has at most 63 letters, digits, -, _ and ., with a letter or digit at both ends."
        ),
    }
}

_COMMON: Mapping[str, Schema] = {
    "metadata.name": SUBDOMAIN,
    "metadata.namespace": _NAMESPACE,
    "metadata.labels": _LABEL_VALUES,
    "metadata.annotations": _LABELS,
}


def schemas() -> dict[str, Schema]:
    """Return all schemas by file name: `<kind>.schema.json` for each kind and the lock file, and the combined one."""
    alone = {f"{model.__name__.lower()}{SUFFIX}": _document(model) for model in MODELS}
    return alone | {f"lock{SUFFIX}": _document(Lock), COMBINED: _combined()}


def _document(model: type[Model]) -> Schema:
    return {"$schema": DIALECT, "title": model.__name__} | _schema(model)


def _schema(model: type[Model]) -> Schema:
    return _with_spellings(model, _with_rules(model, _with_references(plain_schema(model))))


def _with_rules(model: type[Model], schema: Schema) -> Schema:
    """Add the rules of a kind to its schema, which is changed, and return it; another model has none.

    Raises `KeyError` for an unknown field.
    """
    if not issubclass(model, CustomResource):
        return schema
    own = {**_COMMON, **({"metadata.name": _SERVICE} if model.SERVICE else {}), **model.EDITOR_RULES}
    for path, rule in own.items():
        node = schema
        for name in path.replace("[]", ".[]").split("."):
            node = node["items"] if name == "[]" else node["properties"][name]
        if rule.keys() & node.keys():
            node.setdefault("allOf", []).append(rule)
        else:
            node.update(rule)
    return schema


def _with_spellings(model: type[Model], schema: Schema) -> Schema:
    """Return a schema that also has the other accepted spellings of fields."""
    for holder, spelling, canonical in model.SPELLINGS if issubclass(model, CustomResource) else ():
        node = schema
        for key in holder:
            node = node["properties"][key]
        node["properties"][spelling] = node["properties"][canonical]
    return schema


def _with_references(node: Schema) -> Schema:
    """Return a schema in which values of Kubernetes' types refer to their definitions."""
    if definition := node.get(KUBERNETES_TYPE):
        # Draft-07 ignores all other keywords of a schema with `$ref`, also the description.
        return {
            "description": node.get("description", ""),
            "allOf": [{"$ref": f"{KUBERNETES}#/definitions/{definition}"}],
        }
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            node[key] = _with_references(node[key])
    if "properties" in node:
        node["properties"] = {name: _with_references(child) for name, child in node["properties"].items()}
    return node


def kubernetes_types() -> frozenset[str]:
    """Return the names of the definitions of Kubernetes to which the schemas refer."""
    return frozenset(name for model in MODELS for name in _definitions(plain_schema(model)))


def _definitions(node: Schema) -> Iterator[str]:
    if definition := node.get(KUBERNETES_TYPE):
        yield definition
    for child in (*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")):
        if isinstance(child, dict):
            yield from _definitions(child)


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
        "definitions": {model.__name__: {"title": model.__name__} | _schema(model) for model in MODELS},
    }


def _if_kind(model: type[Model]) -> Schema:
    name = model.__name__
    return {
        "if": {"type": "object", "required": ["kind"], "properties": {"kind": {"const": name}}},
        "then": {"$ref": f"#/definitions/{name}"},
    }
