"""Changes as data for programs."""

from collections.abc import Sequence
from typing import Any

from stowplan.compiler.diff.change import Change
from stowplan.compiler.diff.fields import Field, Nothing


def records(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return one record for each change. A missing field has no `before` or no `after` in its record."""
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
