"""Correction of the case of keys: for an API without a schema, Go's decoder accepted keys in any case."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.meta import Model


def fold_keys(model: type[Model], data: dict[str, Any], path: FieldPath = ()) -> Iterator[Finding]:
    """Rename keys of `data`, in place and at any depth, to the model's case, and yield a finding for each renamed key.

    A key stays as it is if `data` also has the key in the model's case. `path` is the path of `data`.
    """
    fields, folded, nested = _fields(model)
    for key in [each for each in data if each not in fields and isinstance(each, str)]:
        known = folded.get(key.lower())
        if known and known not in data:
            data[known] = data.pop(key)
            message = f'"{key}" is read as "{known}".'
            yield finding("SP212", (*path, key), message, "Nothing to do.", anchor=Anchor.KEY)
    for key, below in nested:
        value = data.get(key)
        if isinstance(value, dict):
            yield from fold_keys(below, value, (*path, key))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from fold_keys(below, item, (*path, key, index))


@cache
def _fields(model: type[Model]) -> tuple[frozenset[str], Mapping[str, str], tuple[tuple[str, type[Model]], ...]]:
    """Return the keys of a model, the keys by their lower case, and (key, model) pairs for keys that hold a model."""
    fields = {field.alias or name: _model_of(field.annotation) for name, field in model.model_fields.items()}
    nested = tuple((key, below) for key, below in fields.items() if below)
    return frozenset(fields), {key.lower(): key for key in fields}, nested


def _model_of(annotation: Any) -> type[Model] | None:
    """Return the model in an annotation such as `list[Role] | None`; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next((found for below in get_args(annotation) if (found := _model_of(below))), None)
