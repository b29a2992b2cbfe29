"""Parsing of plain data into models. Errors become findings in Stowplan's own words."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, Severity, did_you_mean, finding, nearest
from stowplan.schema.meta import PATCH, KubernetesType, Model, kubernetes_type
from stowplan.schema.wording import (
    TYPES,
    beyond,
    mistyped,
    not_an_option,
    wrong_form,
)

AnyModel = TypeVar("AnyModel", bound=Model)


def read(
    kind: type[AnyModel], data: Mapping[str, Any], *, unknown: Literal["error", "warn"] = "error"
) -> tuple[AnyModel | None, list[Finding]]:
    """Parse `data` as a model of `kind`. Return the model, or None if `data` is invalid, and the findings.

    With `unknown="warn"`, fields that the model does not have are dropped with a warning. Kubernetes also drops fields
    that a CRD does not declare.
    """
    try:
        return kind.model_validate(data), []
    except ValidationError as error:
        details = error.errors(include_url=False)
    if unknown == "warn":
        strays = [detail for detail in details if detail["type"] == "extra_forbidden"]
        if strays:
            pruned = _without(data, [detail["loc"] for detail in strays])
            model, found = read(kind, pruned, unknown="error")
            return model, [*(_left_out(_explain(kind, detail)) for detail in strays), *found]
    return None, _findings(kind, details)


Embedded = tuple[FieldPath, str, Any]
"""Path of an embedded Kubernetes value, the name of its definition in the official OpenAPI document, and the value."""


def embedded(model: Model) -> list[Embedded]:
    """Return every embedded Kubernetes value that the document of `model` gives, at any depth."""
    found: list[Embedded] = []
    _gather(model, (), found)
    return found


def _gather(model: Model, path: FieldPath, found: list[Embedded]) -> None:
    given = model.model_fields_set
    for name, key, mark in _embedding(type(model)):
        if name in given:
            _gather_value(getattr(model, name), mark, (*path, key), found)


def _gather_value(value: Any, mark: KubernetesType | None, path: FieldPath, found: list[Embedded]) -> None:
    if isinstance(value, dict):
        if mark:
            found.append((path, mark.definition, value))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _gather_value(item, mark, (*path, index), found)
    elif isinstance(value, Model):
        _gather(value, path, found)


@cache
def _embedding(kind: type[Model]) -> tuple[tuple[str, str, KubernetesType | None], ...]:
    """Return (attribute, key, type) of the fields of a model that hold Kubernetes values or other models.

    The type is that of the Kubernetes value; None for a field that holds a model, which may have such fields.
    """
    fields = ((name, field.alias or name, field.annotation) for name, field in kind.model_fields.items())
    marked = ((name, key, _mark(annotation), model_in(annotation)) for name, key, annotation in fields)
    return tuple((name, key, mark) for name, key, mark, model in marked if mark or model)


@cache
def parts(kind: type[Model]) -> Mapping[str, tuple[str, type[Model] | None]]:
    """Return, by key as users write it, what a field holds: an embedded Kubernetes type, or another model.

    The type is the name of its definition, empty if there is none; the model is None if there is none. A list and a
    mapping count as what they hold.
    """
    fields = ((field.alias or name, field.annotation) for name, field in kind.model_fields.items())
    marked = ((key, _mark(annotation), model_in(annotation)) for key, annotation in fields)
    return {key: (mark.definition.removeprefix(PATCH) if mark else "", model) for key, mark, model in marked}


def _mark(annotation: Any) -> KubernetesType | None:
    if get_origin(annotation) is Annotated:
        return kubernetes_type(list(annotation.__metadata__)) or _mark(annotation.__origin__)
    return next((mark for below in get_args(annotation) if (mark := _mark(below))), None)


def _left_out(found: Finding) -> Finding:
    return replace(found, severity=Severity.WARNING, message=f"{found.message} It was left out.")


def _without(data: Mapping[str, Any], paths: list[tuple[str | int, ...]]) -> dict[str, Any]:
    pruned = copy.deepcopy(dict(data))
    for path in paths:
        node: Any = pruned
        for part in path[:-1]:
            node = node[part]
        del node[path[-1]]
    return pruned


def _findings(kind: type[Model], details: list[ErrorDetails]) -> list[Finding]:
    """Return one finding per mistake: a misspelt field is not also reported as missing."""
    strays = [detail["loc"] for detail in details if detail["type"] == "extra_forbidden"]
    meant = {(*path[:-1], nearest(str(path[-1]), _fields(kind, path[:-1]))) for path in strays}
    return [
        _explain(kind, detail) for detail in details if not (detail["type"] == "missing" and detail["loc"] in meant)
    ]


def _explain(kind: type[Model], detail: ErrorDetails) -> Finding:
    path: FieldPath = detail["loc"]
    value, context = detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            return _stray(kind, path)
        case "missing":
            return finding("SP202", path, f'The field "{path[-1]}" is missing.', f"Add `{path[-1]}`.")
        case "literal_error":
            return finding("SP204", path, *not_an_option(value, _options(kind, path)))
        case "string_pattern_mismatch":
            return finding("SP206", path, *wrong_form(value, context["pattern"]))
        case error if error in _LIMITS:
            keyword, limit = _LIMITS[error]
            return finding("SP205", path, *beyond(value, keyword, context[limit], str(path[-1])))
        case error:
            allowed = TYPES[_TYPES[error]] if error in _TYPES else "another type"
            key, fields = (str(path[-1]), _fields(kind, path)) if path else ("", ())
            return finding("SP203", path, *mistyped(value, allowed, fields, key))


def _stray(kind: type[Model], path: FieldPath) -> Finding:
    name = str(path[-1])
    known = _fields(kind, path[:-1])
    below = [field for field in known if name in _fields(kind, (*path[:-1], field))]
    hint = f"Put it below `{below[0]}`." if below and not nearest(name, known) else did_you_mean(name, known)
    return finding("SP201", path, f'"{name}" is not a field here.', hint, anchor=Anchor.KEY)


_TYPES = {
    "bool_type": "boolean",
    "dict_type": "object",
    "int_type": "integer",
    "list_type": "array",
    "model_type": "object",
    "string_type": "string",
}
"""The type that is required, as a word of JSON Schema, by type of pydantic's error."""

_LIMITS = {
    "greater_than": ("exclusiveMinimum", "gt"),
    "greater_than_equal": ("minimum", "ge"),
    "less_than_equal": ("maximum", "le"),
    "string_too_long": ("maxLength", "max_length"),
    "string_too_short": ("minLength", "min_length"),
    "too_long": ("maxItems", "max_length"),
    "too_short": ("minItems", "min_length"),
}
"""By type of pydantic's error: the keyword of JSON Schema, and the name of the limit in the error's context."""


def _fields(kind: type[Model], path: FieldPath) -> list[str]:
    """Return the keys of the fields of the model at `path`, as users write them; an empty list if there is no model."""
    model = _model_at(kind, path)
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _options(kind: type[Model], path: FieldPath) -> tuple[Any, ...]:
    names = [part for part in path if isinstance(part, str)]
    model = _model_at(kind, path[: path.index(names[-1])])
    return _literals(_annotation(model, names[-1])) if model else ()


def _model_at(kind: type[Model], path: FieldPath) -> type[Model] | None:
    model: type[Model] | None = kind
    for part in path:
        if isinstance(part, str) and model:
            model = model_in(_annotation(model, part))
    return model


def _annotation(model: type[Model], name: str) -> Any:
    fields = (field for key, field in model.model_fields.items() if (field.alias or key) == name)
    return next((field.annotation for field in fields), None)


def model_in(annotation: Any) -> type[Model] | None:
    """Return the model in an annotation such as `list[Role] | None`; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next((model for below in get_args(annotation) if (model := model_in(below))), None)


def _literals(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) in (Union, UnionType, Annotated, list):
        return next((found for below in get_args(annotation) if (found := _literals(below))), ())
    return ()
