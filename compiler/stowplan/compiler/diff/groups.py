"""Changes that are alike, told once."""

from collections.abc import Sequence

from stowplan.compiler.diff.change import Action, Change
from stowplan.schema.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """One change and those that are like it; see `_likeness`."""

    first: Change
    others: tuple[Change, ...] = ()

    @property
    def quiet(self) -> bool:
        """Whether a reviewer may pass it over."""
        return not self.first.risks


def grouped(changes: Sequence[Change]) -> list[Group]:
    """In the order of the first change of each group."""
    alike: dict[str, list[Change]] = {}
    for change in changes:
        alike.setdefault(_likeness(change), []).append(change)
    return [Group(first, tuple(others)) for first, *others in alike.values()]


def _likeness(change: Change) -> str:
    """Equal for changes that say the same of other objects.

    What comes or goes without a risk is told once for a spec, and what does so with the same risks once for each kind.
    A replaced object is told alone.
    """
    match change.action:
        case Action.REPLACED:
            what: tuple[object, ...] = (change.path,)
        case Action.CHANGED:
            what = (change.id.kind, change.fields, change.risks)
        case _:
            what = (change.source, change.id.kind if change.risks else "", change.risks)
    return repr((change.action, *what))
