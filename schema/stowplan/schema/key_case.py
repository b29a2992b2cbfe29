"""Keys in any case, as Go's decoder took them where an API had no schema."""

from collections.abc import Iterator
from typing import Any, get_args

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.meta import Model


def fold_keys(model: type[Model], data: dict[str, Any], path: FieldPath = ()) -> Iterator[Finding]:
    """Give keys of `data` the case that `model` has them in; Go's decoder took any. Says what was read as what."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    folded = {key.lower(): key for key in fields}
    for key in [each for each in data if isinstance(each, str) and each not in fields]:
        known = folded.get(key.lower())
        if known and known not in data:
            data[known] = data.pop(key)
            message = f'"{key}" is read as "{known}".'
            yield finding("SP212", (*path, key), message, "Nothing to do.", anchor=Anchor.KEY)
    for key, field in fields.items():
        below = _model_of(field.annotation)
        for at, value in _values(data.get(key)):
            if below and isinstance(value, dict):
                yield from fold_keys(below, value, (*path, key, *at))


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
