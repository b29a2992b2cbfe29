"""Plain data read into models; what does not fit becomes findings in our own words."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, Severity, did_you_mean, finding
from stowplan.schema.meta import KubernetesType, Model, kubernetes_type

AnyModel = TypeVar("AnyModel", bound=Model)

_SHOWN = 60


def read(
    kind: type[AnyModel], data: Mapping[str, Any], *, unknown: Literal["error", "warn"] = "error"
) -> tuple[AnyModel | None, list[Finding]]:
    """`data` as a model of `kind`, and what is wrong with it; None where it does not fit.

    With `unknown="warn"`, fields that the model does not have are dropped with a warning, as the API server prunes
    what a CRD does not declare.
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
            warnings = [replace(_explain(kind, detail), severity=Severity.WARNING) for detail in strays]
            return model, [*warnings, *found]
    return None, [_explain(kind, detail) for detail in details]


def embedded(model: Model, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str, Any]]:
    """Path, official definition and value of every embedded Kubernetes type that was given."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if name in model.model_fields_set and value is not None:
            yield from _embedded(value, field.annotation, (*path, field.alias or name))


def _embedded(value: Any, annotation: Any, path: FieldPath) -> Iterator[tuple[FieldPath, str, Any]]:
    mark = _mark(annotation)
    if isinstance(value, Model):
        yield from embedded(value, path)
    elif mark and not isinstance(value, list):
        yield path, mark.definition, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _embedded(item, annotation, (*path, index))


def _mark(annotation: Any) -> KubernetesType | None:
    if get_origin(annotation) is Annotated:
        return kubernetes_type(list(annotation.__metadata__)) or _mark(annotation.__origin__)
    return next((mark for below in get_args(annotation) if (mark := _mark(below))), None)


def _without(data: Mapping[str, Any], paths: list[tuple[str | int, ...]]) -> dict[str, Any]:
    pruned = copy.deepcopy(dict(data))
    for path in paths:
        node: Any = pruned
        for part in path[:-1]:
            node = node[part]
        del node[path[-1]]
    return pruned


def _explain(kind: type[Model], detail: ErrorDetails) -> Finding:
    path: FieldPath = detail["loc"]
    name = str(path[-1]) if path else kind.__name__
    match detail["type"]:
        case "extra_forbidden":
            message = f'"{name}" is not a field here.'
            hint = did_you_mean(name, _fields(kind, path[:-1]))
            return finding("SP201", path, message, hint, anchor=Anchor.KEY)
        case "missing":
            return finding("SP202", path, f'The field "{name}" is missing.', f"Add `{name}`.")
        case "literal_error":
            return _not_allowed(kind, path, detail)
        case "string_pattern_mismatch":
            message = f"Found {_shown(detail['input'])}, which does not have the form {detail['ctx']['pattern']}."
            return finding("SP206", path, message, "Give a value of that form.")
        case error if error in _LIMITS:
            allowed = _LIMITS[error](detail.get("ctx", {}))
            message = f"Found {_shown(detail['input'])}; allowed is {allowed}."
            return finding("SP205", path, message, f"Give {allowed}.")
        case error:
            allowed = _TYPES.get(error, "another type")
            message = f"Found {_shown(detail['input'])}; allowed is {allowed}."
            quoted = isinstance(detail["input"], str) and allowed != "a text"
            return finding("SP203", path, message, "Write it without quotes." if quoted else f"Give {allowed}.")


def _not_allowed(kind: type[Model], path: FieldPath, detail: ErrorDetails) -> Finding:
    options = [str(option) for option in _options(kind, path)]
    allowed = ", ".join(f'"{option}"' for option in options)
    message = f"Found {_shown(detail['input'])}; allowed is {allowed}."
    return finding("SP204", path, message, did_you_mean(str(detail["input"]), options))


_TYPES = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "a text",
}

_LIMITS: dict[str, Callable[[dict[str, Any]], str]] = {
    "greater_than": lambda ctx: f"a number above {ctx['gt']}",
    "greater_than_equal": lambda ctx: f"a number of at least {ctx['ge']}",
    "less_than_equal": lambda ctx: f"a number of at most {ctx['le']}",
    "string_too_long": lambda ctx: f"a text of at most {ctx['max_length']} characters",
    "string_too_short": lambda ctx: f"a text of at least {ctx['min_length']} characters",
    "too_long": lambda ctx: f"a list of at most {ctx['max_length']} items",
    "too_short": lambda ctx: f"a list of at least {ctx['min_length']} items",
}


def _shown(value: Any) -> str:
    match value:
        case str():
            return f'the text "{value}"' if len(value) <= _SHOWN else f'the text "{value[:_SHOWN]}…"'
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case None:
            return "nothing"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _fields(kind: type[Model], path: FieldPath) -> list[str]:
    """Names of the fields of the model at `path`, as users write them."""
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
            model = _model_in(_annotation(model, part))
    return model


def _annotation(model: type[Model], name: str) -> Any:
    fields = (field for key, field in model.model_fields.items() if (field.alias or key) == name)
    return next((field.annotation for field in fields), None)


def _model_in(annotation: Any) -> type[Model] | None:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next((model for below in get_args(annotation) if (model := _model_in(below))), None)


def _literals(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) in (Union, UnionType, Annotated, list):
        return next((found for below in get_args(annotation) if (found := _literals(below))), ())
    return ()
