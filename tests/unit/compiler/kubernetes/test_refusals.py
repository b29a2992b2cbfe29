"""Why data is refused: what jsonschema says, and what is left where it finds nothing."""

from typing import Any

import pytest

from stowplan.compiler.kubernetes.schema_checker import Checker
from stowplan.schema.diagnostics import dotted

BY_NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def said(schema: dict[str, Any], value: Any) -> list[tuple[str, str]]:
    return [(dotted(each.path), each.message) for each in Checker(schema).problems(value)]


def test_the_nearest_alternative_is_explained() -> None:
    schema = {"anyOf": [{"type": "string"}, BY_NAME]}
    assert said(schema, {"name": 3}) == [("name", "Found the number 3; allowed is a string.")]
    assert said({"items": schema}, ["a", {"name": {"a": 1}}])[0][0] == "[1].name"


def test_of_alternatives_that_fit_equally_none_is_explained() -> None:
    ((path, message),) = said({"anyOf": [{"type": "string"}, {"type": "integer"}]}, [])
    assert (path, message) == ("", 'Found a list, which breaks the rule "anyOf" of its schema.')


def test_words_of_the_schema_are_better_than_an_alternative() -> None:
    schema = {"title": "a name", "anyOf": [{"type": "string"}, BY_NAME]}
    assert said(schema, {"name": 3}) == [("", "Found a mapping; allowed is a name.")]


@pytest.mark.parametrize(("form", "value"), [("date-time", "yesterday"), ("ipv4", "1.2.3"), ("uri", "a b")])
def test_formats_are_explained(form: str, value: str) -> None:
    ((_, message),) = said({"format": form}, value)
    assert message == f'Found the string "{value}", which breaks the rule "format" of its schema.'


def test_a_pattern_takes_no_more_than_linear_time() -> None:
    ((_, message),) = said({"pattern": "^(a+)+$"}, "a" * 60 + "!")
    assert message.startswith('Found the string "aaa')


def test_what_only_jsonschema_rs_refuses_is_said() -> None:
    """Python's `$` matches before a line break at the end, too."""
    schema = {"patternProperties": {"^a$": {}}, "additionalProperties": False}
    ((path, message),) = said(schema, {"a\n": 1})
    assert (path, message) == ("", 'Found a mapping, which breaks the rule "additionalProperties" of its schema.')


def test_data_that_is_too_deep_for_jsonschema_is_refused_too() -> None:
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"properties": {"a": {"$ref": "#/$defs/node"}}, "not": {"required": ["b"]}}},
    }
    value: dict[str, Any] = {"b": 1}
    for _ in range(400):
        value = {"a": value}
    ((path, _),) = said(schema, value)
    assert path.count("a") == 400
