"""Lists with keys are found everywhere in a schema, and every repeated key is reported."""

from typing import Any

import pytest

from stowplan.compiler.kubernetes.schema_checker import Checker

KEYED = {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-map-keys": ["name"]}
TWICE = [{"name": "a"}, {"name": "b"}, {"name": "a"}]
ONCE = [{"name": "a"}, {"name": "b"}]

PLACES: list[tuple[dict[str, Any], str]] = [
    (KEYED, ""),
    ({"properties": {"a": KEYED}}, "a"),
    ({"items": {"properties": {"a": KEYED}}}, "0.a"),
    ({"additionalProperties": KEYED}, "a"),
    ({"patternProperties": {"^a": KEYED}}, "a"),
    ({"additionalProperties": {"$ref": "#/$defs/list"}, "$defs": {"list": KEYED}}, "a"),
    ({"items": {"items": KEYED}}, "0.0"),
    ({"allOf": [{"properties": {"a": {"type": "array"}}}, {"properties": {"a": KEYED}}]}, "a"),
    ({"anyOf": [{"properties": {"a": KEYED}}, {"required": ["b"]}]}, "a"),
    ({"if": {"required": ["a"]}, "then": {"properties": {"a": KEYED}}}, "a"),
    ({"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"a": KEYED}}}}, "a"),
    (
        {
            "$ref": "#/$defs/node",
            "$defs": {"node": {"properties": {"a": KEYED, "below": {"$ref": "#/$defs/node"}}}},
        },
        "below.below.a",
    ),
]


@pytest.mark.parametrize(("schema", "path"), PLACES)
def test_a_repeated_key_is_found(schema: dict[str, Any], path: str) -> None:
    checker = Checker(schema)
    assert checker.problems(_at(path, ONCE)) == []
    assert checker.problems(_at(path, TWICE)) != []


def test_a_condition_may_ask_for_a_repeated_key() -> None:
    checker = Checker({"not": {"properties": {"a": KEYED}, "required": ["a"]}})
    assert checker.problems({"a": TWICE}) == []


@pytest.mark.parametrize(
    ("items", "problems"),
    [
        ([{"port": 1}, {"port": 1, "protocol": "UDP"}], 0),
        ([{"port": 1}, {"port": 1, "protocol": "TCP"}], 1),
        ([{"port": 1}, {"port": "1"}], 1),
    ],
)
def test_keys_are_compared_as_strings_with_tcp_as_protocol(items: list[Any], problems: int) -> None:
    checker = Checker({"x-kubernetes-list-map-keys": ["port", "protocol"]})
    assert len(checker.problems(items)) == problems


@pytest.mark.parametrize(
    ("items", "problems"),
    [
        ([{"name": 1}, {"name": "1"}], 1),
        ([{"name": 1}, {"name": "2"}], 0),
        ([{}, {"name": ""}], 1),
        ([{}, {"name": "a"}], 0),
        ([{"name": []}, {"name": "[]"}], 1),
        (["a", "a"], 0),
        ([None, {"name": "a"}], 0),
        (None, 0),
    ],
)
def test_keys_of_any_type_are_compared(items: Any, problems: int) -> None:
    assert len(Checker({"x-kubernetes-list-map-keys": ["name"]}).problems(items)) == problems


def test_a_field_of_that_name_is_no_list() -> None:
    items = {"type": "array", "items": {"type": "object"}}
    checker = Checker({"properties": {"x-kubernetes-list-map-keys": items}})
    assert checker.problems({"x-kubernetes-list-map-keys": TWICE}) == []


def _at(path: str, value: Any) -> Any:
    for part in reversed(path.split(".") if path else []):
        value = [value] if part.isdecimal() else {part: value}
    return value
