"""`MigrationPlan`: how the fields of one legacy spec become those of a native kind, as data."""

from dataclasses import dataclass
from typing import Any

from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class Move:
    """The value at `old`, if it exists, goes to `new` as it is."""

    old: FieldPath
    new: FieldPath


@dataclass(frozen=True, slots=True)
class Write:
    """`value` is written at `new`, in the place of the field at `old` (empty for none), whose comments go with it."""

    new: FieldPath
    value: Any
    old: FieldPath = ()


@dataclass(frozen=True, slots=True)
class Omit:
    """The field at `old`, if it exists, is left out, because it has no effect or its native default says the same.

    `reason` completes the sentence "`field` is left out: …". It is empty for fields that users need not hear of.
    """

    old: FieldPath
    reason: str = ""


Step = Move | Write | Omit


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The native kind of a spec, and the steps in the order in which the native fields are written.

    Without steps the spec stays, and `refused` says why. A step on a part of a value comes before the step on the
    whole. Fields without a step cannot be kept; `reasons` says why, by old path, if there is more to say than that
    there is no such field. `refused` are findings about values that cannot be kept. `needs` is a spec that must become
    native too, with the path of the reference. `change` says what else changes, in sentences.
    """

    kind: str
    steps: tuple[Step, ...]
    reasons: tuple[tuple[FieldPath, str], ...] = ()
    refused: tuple[Finding, ...] = ()
    needs: tuple[SpecId, FieldPath] | None = None
    change: str = ""


def path(text: str) -> FieldPath:
    """Return the path that `text` names, such as `spec.datasets.0.name`. Keys of digits are indices of lists."""
    return tuple(int(part) if part.isdigit() else part for part in text.split("."))


def moves(*pairs: tuple[str, str]) -> tuple[Move, ...]:
    """Return a step for each pair of an old and a new name of a field, which are as in `path`."""
    return tuple(Move(path(old), path(new)) for old, new in pairs)
