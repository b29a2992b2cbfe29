"""Keys in any case, as Go's decoder took them where an API had no schema."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.meta import Model


def fold_keys(model: type[Model], data: dict[str, Any], path: FieldPath = ()) -> Iterator[Finding]:
    """Give keys of `data` the case that `model` has them in; Go's decoder took any. Says what was read as what."""
    fields, folded = _fields(model)
    for key in [each for each in data if isinstance(each, str) and each not in fields]:
        known = folded.get(key.lower())
        if known and known not in data:
            data[known] = data.pop(key)
            message = f'"{key}" is read as "{known}".'
            yield finding("SP212", (*path, key), message, "Nothing to do.", anchor=Anchor.KEY)
    for key, below in fields.items():
        for at, value in _values(data.get(key)):
            if below and isinstance(value, dict):
                yield from fold_keys(below, value, (*path, key, *at))


@cache
def _fields(model: type[Model]) -> tuple[Mapping[str, type[Model] | None], Mapping[str, str]]:
    """The model below each key, if there is one, and the keys by their lower case."""
    fields = {field.alias or name: _model_of(field.annotation) for name, field in model.model_fields.items()}
    return fields, {key.lower(): key for key in fields}


def _model_of(annotation: Any) -> type[Model] | None:
    """The model inside an annotation such as `list[Role] | None`, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next((found for below in get_args(annotation) if (found := _model_of(below))), None)


def _values(value: Any) -> Iterator[tuple[FieldPath, Any]]:
    if isinstance(value, list):
        yield from (((index,), item) for index, item in enumerate(value))
    else:
        yield (), value
