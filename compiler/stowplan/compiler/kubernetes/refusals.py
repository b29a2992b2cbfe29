"""Why a value does not fit its JSON schema: what the package jsonschema finds, in Stowplan's words.

It takes much longer than jsonschema-rs, which decides, but says more: the schema of each error, and the
nearest of the alternatives in `anyOf`.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import jsonschema_rs
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

from stowplan.compiler.kubernetes.list_map_keys import LIST_MAP_KEYS, repeated_key
from stowplan.compiler.kubernetes.schema_problem import FORM, JsonSchema, SchemaProblem, broken
from stowplan.schema.diagnostics import FieldPath, did_you_mean, nearest
from stowplan.schema.wording import (
    ANY_TEXT,
    LIMITS,
    TYPES,
    beyond,
    describe,
    found_but,
    mistyped,
    not_an_option,
    wrong_form,
)

Rule = Callable[[Any, Any, Any, JsonSchema], Iterator[ValidationError]]


def problems(schema: JsonSchema, value: Any) -> set[SchemaProblem]:
    """Return the problems of plain data that `schema` refuses; empty if jsonschema finds none."""
    try:
        errors = [_nearest(error) for error in _VALIDATOR(schema).iter_errors(value)]
    except RecursionError:
        return set()
    names = {id(each): name for name, each in schema.get("$defs", {}).items()}
    meant = {path for error in errors for path in _meant(error)}
    found = {each for error in errors for each in _explain(error, names)}
    return {each for each in found if not (each.keyword == "required" and each.path in meant)}


def _by_jsonschema_rs(keyword: str) -> Rule:
    """Return a rule about strings. jsonschema-rs decides here, too: its patterns take linear time, as RE2's do."""

    @cache
    def validator(rule: str) -> jsonschema_rs.Draft202012Validator:
        options = jsonschema_rs.RegexOptions()
        return jsonschema_rs.Draft202012Validator({keyword: rule}, validate_formats=True, pattern_options=options)

    def check(_validator: Any, rule: str, value: Any, _schema: JsonSchema) -> Iterator[ValidationError]:
        if not validator(rule).is_valid(value):
            yield ValidationError(rule)

    return check


def _property_names(validator: Any, rule: JsonSchema, value: Any, _schema: JsonSchema) -> Iterator[ValidationError]:
    """Yield an error at the mapping for each wrong key, with the key as its message."""
    for name in value if isinstance(value, dict) else ():
        if not validator.evolve(schema=rule).is_valid(name):
            yield ValidationError(name)


def _unique_keys(_validator: Any, keys: list[str], value: Any, _schema: JsonSchema) -> Iterator[ValidationError]:
    if found := repeated_key(value, keys):
        yield ValidationError(found)


_VALIDATOR = extend(
    Draft202012Validator,
    {
        "pattern": _by_jsonschema_rs("pattern"),
        "format": _by_jsonschema_rs("format"),
        "propertyNames": _property_names,
        LIST_MAP_KEYS: _unique_keys,
    },
)


def _nearest(error: ValidationError) -> ValidationError:
    """Return the error in the alternative that fits best, unless the schema says in words what is allowed."""
    return error if FORM in error.schema else best_match([error])


def _unknown(error: ValidationError) -> list[str]:
    """Return the names of unknown fields that an error is about, sorted."""
    if error.validator != "additionalProperties":
        return []
    patterns = error.schema.get("patternProperties", {})
    others = (name for name in error.instance if name not in _known(error))
    return sorted(name for name in others if not any(re.search(each, name) for each in patterns))


def _known(error: ValidationError) -> JsonSchema:
    known: JsonSchema = error.schema.get("properties", {})
    return known


def _meant(error: ValidationError) -> Iterator[FieldPath]:
    """Yield the paths of fields that the user probably meant by unknown names in `error`.

    Such a field is not reported as missing, because its misspelling is reported.
    """
    for name in _unknown(error):
        yield (*error.absolute_path, nearest(name, _known(error)) or name)


def _explain(error: ValidationError, names: dict[int, str]) -> Iterator[SchemaProblem]:
    """Yield the problems that an error stands for. `names` are those of definitions, by `id`."""
    path, schema = tuple(error.absolute_path), error.schema
    match error.validator:
        case "additionalProperties":
            where = names.get(id(schema), "").rpartition(".")[2]
            for name in _unknown(error):
                message = f'"{name}" is not a field of {where}.' if where else f'"{name}" is not a field here.'
                yield SchemaProblem((*path, name), error.validator, message, did_you_mean(name, _known(error)))
        case "required":
            for name in error.validator_value:
                if name not in error.instance:
                    message = f'The field "{name}" is missing; {schema.get(FORM, "it is required")}.'
                    yield SchemaProblem((*path, name), error.validator, message, f'Add "{name}".')
        case "propertyNames":
            allowed = error.validator_value.get(FORM, "another form")
            message = f'The key "{error.message}" is not allowed; allowed is {allowed}.'
            yield SchemaProblem((*path, error.message), error.validator, message, "Change the key.")
        case _:
            yield SchemaProblem(path, error.validator, *_wording(error, path))


def _wording(error: ValidationError, path: FieldPath) -> tuple[str, str]:
    """Return message and hint for an error in the value at `path`. The value of a Secret's key is never shown."""
    form = error.schema.get(FORM)
    if path[:1] in (("data",), ("stringData",)):
        return found_but(_kind(error.instance), form or ANY_TEXT)
    if form and error.validator not in ("type", "enum"):
        return found_but(describe(error.instance), form)
    return _rule(error, str(path[-1]) if path else "")


def _rule(error: ValidationError, key: str) -> tuple[str, str]:
    """Return message and hint for the value of `key`, which breaks a rule of its schema."""
    keyword, allowed, value = error.validator, error.validator_value, error.instance
    match keyword:
        case "type":
            types = [allowed] if isinstance(allowed, str) else allowed
            return mistyped(value, " or ".join(TYPES[name] for name in sorted(types) if name != "null"), key=key)
        case "enum":
            return not_an_option(value, [option for option in allowed if option not in (None, "")])
        case "pattern":
            return wrong_form(value, allowed)
        case "x-kubernetes-list-map-keys":
            return f"Two items have {error.message}; server-side apply refuses that.", "Keep one of them."
        case _ if keyword in LIMITS:
            return beyond(value, keyword, allowed)
    return broken(value, keyword)


def _kind(value: Any) -> str:
    match value:
        case str():
            return ANY_TEXT
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case _:
            return describe(value)
