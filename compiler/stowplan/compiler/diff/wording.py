"""How changes are said, on a terminal and in Markdown alike."""

import json
from collections import Counter
from collections.abc import Sequence
from os.path import commonprefix
from typing import Any

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.diff.change import Action, Change
from stowplan.compiler.diff.fields import Field, Nothing
from stowplan.compiler.diff.groups import Group
from stowplan.schema.diagnostics import dotted
from stowplan.schema.wording import counted

LONGEST = 100
"""Characters of a value."""

MOST_NAMED = 5
"""Objects that are like another one; of more, the kinds are counted."""

_CONTEXT = 10
"""Characters of the common beginning that stay."""


def summary(changes: Sequence[Change]) -> str:
    """`1 object removed, 2 replaced, 12 created, 3 changed`."""
    counts = Counter(change.action for change in changes)
    parts = [f"{counts[action]} {action}" for action in Action if counts[action]]
    return f"{counted(len(changes), 'object')}: {', '.join(parts)}" if parts else "The output does not change"


def title(change: Change) -> str:
    """`Job ml/imagenet-sync-…`, with the name before where it had another one."""
    name = _name(change)
    if change.action is Action.REPLACED and change.old:
        return f"{name} in the place of {visible(change.old.name)}"
    return name


def others(group: Group) -> str:
    """`and the same in Job ml/b, Job ml/c`; of many the kinds: `and 2 ConfigMaps, 1 Role of this file`."""
    same = group.first.action is Action.CHANGED or group.first.risks
    if len(group.others) <= MOST_NAMED:
        return f"and {'the same in ' if same else ''}{', '.join(map(title, group.others))}"
    kinds = Counter(change.id.kind for change in group.others)
    listed = ", ".join(_counted(number, kind) for kind, number in sorted(kinds.items()))
    return f"and the same in {listed} more" if same else f"and {listed} of this file"


def _counted(number: int, kind: str) -> str:
    if number > 1 and kind.endswith("y"):
        return f"{number} {visible(kind[:-1])}ies"
    return counted(number, visible(kind))


def _name(change: Change) -> str:
    own = change.id
    return visible(f"{own.kind} {own.namespace}/{own.name}" if own.namespace else f"{own.kind} {own.name}")


def field_line(field: Field) -> str:
    """`spec.replicas: 2 → 3`."""
    before, after = _apart(_text(field.before), _text(field.after))
    return f"{visible(dotted(field.path))}: {before} → {after}"


def shown(value: Any) -> str:
    """A value in one short line."""
    return cut(_text(value), LONGEST)


def cut(text: str, longest: int) -> str:
    """A text in at most `longest` characters; of a longer one, its beginning."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _text(value: Any) -> str:
    if value is Nothing.HERE:
        return "nothing"
    plain = isinstance(value, str) and value and "\n" not in value
    return visible(value) if plain else json.dumps(value, ensure_ascii=True)


def _apart(*texts: str) -> list[str]:
    """Each text in at most `LONGEST` characters; of long ones, what they begin with alike is left out."""
    if all(len(text) <= LONGEST for text in texts):
        return list(texts)
    same = max(0, len(commonprefix(texts)) - _CONTEXT)  # noqa: RUF071 - these are no paths
    return [cut(f"…{text[same:]}" if same else text, LONGEST) for text in texts]
