"""The structural checker: each rule finds its own violation and nothing else."""

from typing import Any

import pytest

from stowplan.schema.diagnostics import dotted
from stowplan.schema.export import structural

Schema = dict[str, Any]
STRING = {"type": "string"}
INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"]}


def root(**keywords: Any) -> Schema:
    return {"type": "object", **keywords}


def field(**keywords: Any) -> Schema:
    """A root with one field `a`."""
    return root(properties={"a": keywords})


def items(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required}


REFUSED = {
    "root without type": ({"properties": {}}, "", "has no type"),
    "root that is no object": ({"type": "string"}, "type", "found string; the root is an object"),
    "root of free keys": (root(additionalProperties=STRING), "additionalProperties", "at the root"),
    "root that may be null": (root(nullable=True), "nullable", "at the root"),
    "kind of another type": (root(properties={"kind": {"type": "object"}}), "properties.kind.type", "of type string"),
    "metadata of another type": (
        root(properties={"metadata": STRING}),
        "properties.metadata.type",
        "metadata is of type object",
    ),
    "metadata with a description": (
        root(properties={"metadata": {"type": "object", "description": "Metadata."}}),
        "properties.metadata",
        "found description",
    ),
    "metadata with labels": (
        root(properties={"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}),
        "properties.metadata",
        "found labels",
    ),
    "field without type": (field(description="A."), "properties.a", "has no type"),
    "items without type": (field(type="array", items={}), "properties.a.items", "has no type"),
    "values without type": (
        field(type="object", additionalProperties={"maxLength": 3}),
        "properties.a.additionalProperties",
        "has no type",
    ),
    "type null": (field(type="null"), "properties.a.type", "found null"),
    "list of types": (field(type=["string", "null"]), "properties.a.type", "one of array"),
    "array without items": (field(type="array"), "properties.a", "array without items"),
    "items by position": (field(type="array", items=[STRING]), "properties.a.items", "found a list"),
    "reference": (root(properties={"a": {"type": "object", "$ref": "#/x"}}), 'properties.a["$ref"]', "not allowed"),
    "const": (field(type="string", const="a"), "properties.a.const", "not allowed in a CRD"),
    "definitions": (root(definitions={"b": STRING}), "definitions", "not allowed in a CRD"),
    "2020-12 definitions": (root(**{"$defs": {"b": STRING}}), '["$defs"]', "not allowed in a CRD"),
    "pattern keys": (
        field(type="object", patternProperties={"^b": STRING}),
        "properties.a.patternProperties",
        "not allowed",
    ),
    "unique items": (field(type="array", items=STRING, uniqueItems=True), "properties.a.uniqueItems", "list-type: set"),
    "closed object": (
        field(type="object", properties={"b": STRING}, additionalProperties=False),
        "properties.a.additionalProperties",
        "pruned, not refused",
    ),
    "known and free keys": (
        field(type="object", properties={"b": STRING}, additionalProperties=STRING),
        "properties.a.additionalProperties",
        "found together with properties",
    ),
    "preserve that is false": (
        field(type="object", **{"x-kubernetes-preserve-unknown-fields": False}),
        "properties.a.x-kubernetes-preserve-unknown-fields",
        "only true",
    ),
    "int-or-string that keeps fields": (
        field(**{"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True}),
        "properties.a",
        "excludes",
    ),
    "embedded object of nothing": (
        field(type="object", **{"x-kubernetes-embedded-resource": True}),
        "properties.a",
        "needs type object, and properties",
    ),
    "list type of an object": (
        field(type="object", **{"x-kubernetes-list-type": "atomic"}),
        "properties.a.x-kubernetes-list-type",
        "needs type array",
    ),
    "unknown list type": (
        field(type="array", items=STRING, **{"x-kubernetes-list-type": "bag"}),
        "properties.a.x-kubernetes-list-type",
        "one of atomic, map, set",
    ),
    "set of granular objects": (
        field(type="array", items={"type": "object"}, **{"x-kubernetes-list-type": "set"}),
        "properties.a.items",
        "map-type: atomic",
    ),
    "list map without keys": (
        field(type="array", items=items(["key"], key=STRING), **{"x-kubernetes-list-type": "map"}),
        "properties.a",
        "need each other",
    ),
    "keys without list map": (
        field(type="array", items=items(["key"], key=STRING), **{"x-kubernetes-list-map-keys": ["key"]}),
        "properties.a",
        "need each other",
    ),
    "list map of strings": (field(type="array", items=STRING, **KEYED), "properties.a.items", "are objects"),
    "list map with an unknown key": (
        field(type="array", items=items([], other=STRING), **KEYED),
        "properties.a.x-kubernetes-list-map-keys",
        "key is not a scalar property",
    ),
    "list map with a mapping as key": (
        field(type="array", items=items(["key"], key={"type": "object"}), **KEYED),
        "properties.a.x-kubernetes-list-map-keys",
        "key is not a scalar property",
    ),
    "list map with an optional key": (
        field(type="array", items=items([], key=STRING), **KEYED),
        "properties.a.items.properties.key",
        "must be required or have a default",
    ),
    "lookahead": (field(type="string", pattern="^(?!kube-).*$"), "properties.a.pattern", "looks around"),
    "lookbehind": (field(type="string", pattern="(?<=a)b"), "properties.a.pattern", "looks around"),
    "back reference": (field(type="string", pattern=r"(a)\1"), "properties.a.pattern", "looks around"),
    "type in a junctor": (field(type="string", anyOf=[{"type": "string"}]), "properties.a.anyOf[0].type", "inside"),
    "description deep in a junctor": (
        root(properties={"a": STRING}, oneOf=[{"properties": {"a": {"description": "A."}}}]),
        "oneOf[0].properties.a.description",
        "not allowed inside a junctor",
    ),
    "default under not": (field(type="string", **{"not": {"default": "a"}}), "properties.a.not.default", "inside"),
    "field that only a junctor knows": (
        root(allOf=[{"properties": {"a": {"minLength": 1}}}]),
        "allOf[0].properties.a",
        "not declared outside",
    ),
    "items that only a junctor knows": (
        root(anyOf=[{"items": {"minLength": 1}}]),
        "anyOf[0].items",
        "not declared outside",
    ),
    "field that only a junctor further down knows": (
        field(type="object", anyOf=[{"properties": {"b": {"minLength": 1}}}]),
        "properties.a.anyOf[0].properties.b",
        "not declared outside",
    ),
    "field that only a nested junctor knows": (
        root(allOf=[{"not": {"properties": {"a": {"minLength": 1}}}}]),
        "allOf[0].not.properties.a",
        "not declared outside",
    ),
    "metadata in a junctor": (
        root(properties={"metadata": {"type": "object"}}, anyOf=[{"properties": {"metadata": {}}}]),
        "anyOf[0].properties.metadata",
        "not allowed inside a junctor",
    ),
}

ACCEPTED = {
    "empty object": root(),
    "restricted name": root(properties={"metadata": {"type": "object", "properties": {"name": {"type": "string"}}}}),
    "fields named like keywords": root(properties={"const": STRING, "$ref": STRING, "title": STRING}),
    "anything": field(**{"x-kubernetes-preserve-unknown-fields": True}),
    "map": field(type="object", additionalProperties={"type": "string", "maxLength": 3}),
    "integer or string": field(**{"x-kubernetes-int-or-string": True}),
    "integer or string, given twice": field(**{"x-kubernetes-int-or-string": True, "anyOf": INT_OR_STRING}),
    "integer or string with a pattern": field(
        **{"x-kubernetes-int-or-string": True, "allOf": [{"anyOf": INT_OR_STRING}, {"pattern": "^a"}]}
    ),
    "list map with a required key": field(type="array", items=items(["key"], key=STRING), **KEYED),
    "list map with a default key": field(
        type="array", items=items([], key={"type": "string", "default": "a"}), **KEYED
    ),
    "set": field(type="array", items=STRING, **{"x-kubernetes-list-type": "set"}),
    "one of two fields": root(properties={"a": STRING, "b": STRING}, oneOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "bound on a known field in a junctor": root(
        properties={"a": STRING}, anyOf=[{"properties": {"a": {"enum": ["x"]}}}]
    ),
    "non-capturing group": field(type="string", pattern="^(?:a|b)(?P<name>c)$"),
    "escaped question": field(type="string", pattern=r"\(?=\\d[(?=]"),
}


@pytest.mark.parametrize(("schema", "path", "message"), REFUSED.values(), ids=REFUSED)
def test_problems_that_the_api_server_refuses_are_found_at_their_position(
    schema: Schema, path: str, message: str
) -> None:
    found = structural.problems(schema)
    assert [dotted(place) for place, _ in found] == [path]
    assert message in found[0][1]


@pytest.mark.parametrize("schema", ACCEPTED.values(), ids=ACCEPTED)
def test_schemas_that_the_api_server_accepts_have_no_problems(schema: Schema) -> None:
    assert structural.problems(schema) == []


def test_all_problems_are_found_at_once() -> None:
    schema = root(properties={"a": {}, "b": {"type": "null"}}, definitions={})
    assert [dotted(place) for place, _ in structural.problems(schema)] == [
        "definitions",
        "properties.a",
        "properties.b.type",
    ]


def test_a_crd_may_be_as_large_as_an_annotation() -> None:
    definition = {"spec": "é" * 10}
    left = structural.MAX_BYTES - structural.size(definition)
    assert structural.size_problems({"spec": "é" * 10 + "x" * left}) == []
    assert structural.size_problems({"spec": "é" * 10 + "x" * (left + 1)}) == [
        ((), "has 262145 bytes as JSON; at most 262144 fit")
    ]
