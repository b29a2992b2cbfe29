"""One object of the output, before and after a change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from stowplan.compiler.diff.fields import Field, Nothing
from stowplan.compiler.kubernetes.fields import identity
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId


class Action(StrEnum):
    """What happens to an object. A replaced object has another name than the object that its file held before.

    `FOREIGN` is not about an object of the output, but about an entry of the output folder that no spec produces.
    """

    FOREIGN = "foreign"
    REMOVED = "removed"
    REPLACED = "replaced"
    CREATED = "created"
    CHANGED = "changed"


class Danger(StrEnum):
    """Kinds of risk, worst first."""

    SECURITY = "security"
    DATA = "data loss"
    RIGHTS = "rights"
    RUN = "run"
    IMMUTABLE = "immutable"
    CRD = "CRD"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Risk:
    """A reason for reviewing a change, as a sentence (`text`), and its kind."""

    danger: Danger
    text: str


def worst_first(found: Iterable[Risk]) -> tuple[Risk, ...]:
    """Return the risks by kind in the order of `Danger`, then by text."""
    return tuple(sorted(found, key=lambda risk: (list(Danger).index(risk.danger), risk.text)))


@dataclass(frozen=True, slots=True)
class Pair:
    """The object in one file of the output before and after the change; None on the side where there is none.

    `path` is that of the file in the output folder, `source` the user's file that the object is compiled from.
    """

    path: str
    source: str
    before: Json | None
    after: Json | None

    @property
    def action(self) -> Action:
        """What happens to the object, never `FOREIGN`: replaced if namespace or name differ."""
        if self.before is None:
            return Action.CREATED
        if self.after is None:
            return Action.REMOVED
        same = identity(self.before)[2:] == identity(self.after)[2:]
        return Action.CHANGED if same else Action.REPLACED

    @property
    def kind(self) -> str:
        """The kind of the object, such as `Job`: of the new one, else of the old one."""
        return str((self.after or self.before or {}).get("kind", ""))


@dataclass(frozen=True, slots=True)
class Change:
    """A changed object and its identities: `old` is None for a new object, `new` is None for a removed one.

    `path` is that of its file in the output folder of the target. `fields` is empty without `old` or `new`.
    """

    action: Action
    path: str
    source: str
    """The user's file that the object is compiled from; `no spec` for a foreign entry."""
    old: ObjectId | None
    new: ObjectId | None
    fields: tuple[Field, ...] = ()
    risks: tuple[Risk, ...] = field(default=())

    @property
    def id(self) -> ObjectId:
        """The new identity, or the old one of a removed object."""
        found = self.new or self.old
        if found is None:
            raise ValueError(self.path)
        return found

    @property
    def rank(self) -> tuple[int, int, str, str]:
        """Sort key for reviewers: by worst risk, then by action in the order of `Action`, then by source file."""
        worst = min((list(Danger).index(risk.danger) for risk in self.risks), default=len(Danger))
        return worst, list(Action).index(self.action), self.source, self.path


def records(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return one record for each change, in the same order: action, files, identity, `risks` and `fields`.

    An entry of `fields` has `path` and both values: without `before` or `after` where the field is missing.
    """
    return [
        {
            "action": change.action.value,
            "file": change.path,
            "source": change.source,
            "kind": change.id.kind,
            "group": change.id.group,
            "namespace": change.id.namespace,
            "name": change.id.name,
            "risks": [{"danger": risk.danger.value, "text": risk.text} for risk in change.risks],
            "fields": [_field(field) for field in change.fields],
        }
        for change in changes
    ]


def _field(field: Field) -> dict[str, Any]:
    values = {"before": field.before, "after": field.after}
    return {"path": list(field.path)} | {side: value for side, value in values.items() if value is not Nothing.HERE}
