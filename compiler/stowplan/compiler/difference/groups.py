"""Changes that are alike, told once."""

from collections.abc import Sequence
from dataclasses import dataclass

from stowplan.compiler.difference.change import Action, Change


@dataclass(frozen=True, slots=True)
class Group:
    """One change and those that are like it: same kind, same fields with the same values, same risks."""

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
    """Equal for changes that say the same of other objects. What is created or removed is told one by one, by spec."""
    place = change.path if change.action is not Action.CHANGED else ""
    return repr((change.action, change.id.kind, place, change.fields, change.risks))
