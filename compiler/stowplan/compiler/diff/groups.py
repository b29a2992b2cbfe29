"""Groups of similar changes, each shown once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from stowplan.compiler.diff.change import Action, Change


@dataclass(frozen=True, slots=True)
class Group:
    """One change, which is shown in full, and similar ones of the same action, which are only named."""

    first: Change
    others: tuple[Change, ...] = ()


def grouped(changes: Sequence[Change]) -> list[Group]:
    """Return groups of similar changes, by their first changes in the given order. A replaced object is alone."""
    alike: dict[str, list[Change]] = {}
    for change in changes:
        alike.setdefault(_likeness(change), []).append(change)
    return [Group(first, tuple(others)) for first, *others in alike.values()]


def _likeness(change: Change) -> str:
    """Return a string that is equal for similar changes.

    Objects that are created (or removed) from one source file without a risk are similar; with risks, only those of the
    same kind with the same risks are. Changed objects are similar if kind, fields and risks are equal. A replaced
    object is similar to no other.
    """
    match change.action:
        case Action.REPLACED:
            what: tuple[object, ...] = (change.path,)
        case Action.CHANGED:
            what = (change.id.kind, change.fields, change.risks)
        case Action.CREATED | Action.REMOVED | Action.FOREIGN:
            what = (change.source, change.id.kind if change.risks else "", change.risks)
        case other:
            assert_never(other)
    return repr((change.action, *what))
