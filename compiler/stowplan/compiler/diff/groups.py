"""Groups of similar changes, each shown once."""

from collections.abc import Sequence
from dataclasses import dataclass

from stowplan.compiler.diff.change import Action, Change


@dataclass(frozen=True, slots=True)
class Group:
    """One change and the similar ones; see `_likeness`."""

    first: Change
    others: tuple[Change, ...] = ()

    @property
    def quiet(self) -> bool:
        """Return whether a reviewer may skip the group."""
        return not self.first.risks


def grouped(changes: Sequence[Change]) -> list[Group]:
    """Group the changes, in the order of each group's first change."""
    alike: dict[str, list[Change]] = {}
    for change in changes:
        alike.setdefault(_likeness(change), []).append(change)
    return [Group(first, tuple(others)) for first, *others in alike.values()]


def _likeness(change: Change) -> str:
    """Return a key that is equal for similar changes.

    Objects created or removed without a risk form one group per spec, and those with the same risks one group per kind.
    Each replaced object is a group of its own.
    """
    match change.action:
        case Action.REPLACED:
            what: tuple[object, ...] = (change.path,)
        case Action.CHANGED:
            what = (change.id.kind, change.fields, change.risks)
        case _:
            what = (change.source, change.id.kind if change.risks else "", change.risks)
    return repr((change.action, *what))
