"""Wording of changes, for the terminal and for Markdown."""

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
"""Maximum length of a value in characters."""

MOST_NAMED = 5
"""Maximum number of similar objects that are named; more are counted by kind."""

_CONTEXT = 10
"""Number of characters of a common prefix that are shown before the difference."""


def summary(changes: Sequence[Change]) -> str:
    """Return a summary such as `1 object removed, 2 replaced, 12 created, 3 changed`."""
    counts = Counter(change.action for change in changes)
    parts = [f"{counts[action]} {action}" for action in Action if counts[action]]
    return f"{counted(len(changes), 'object')}: {', '.join(parts)}" if parts else "The output does not change"


def title(change: Change) -> str:
    """Return a title such as `Job ml/imagenet-sync-…`; for a replaced object, with the name of the old one."""
    name = visible(str(change.id))
    if change.action is Action.REPLACED and change.old:
        return f"{name} in the place of {visible(change.old.name)}"
    return name


def others(group: Group) -> str:
    """Return a phrase for the further changes of a group, such as `and the same in Job ml/b, Job ml/c`.

    If there are more than `MOST_NAMED`, the phrase has their numbers by kind: `and 2 ConfigMaps, 1 Role of this file`.
    """
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


def field_line(field: Field) -> str:
    """Return a line such as `spec.replicas: 2 → 3`."""
    before, after = _apart(_text(field.before), _text(field.after))
    return f"{visible(dotted(field.path))}: {before} → {after}"


def shown(value: Any) -> str:
    """Return a value in one line of at most `LONGEST` characters."""
    return cut(_text(value), LONGEST)


def cut(text: str, longest: int) -> str:
    """Return a string, cut to at most `longest` characters; the last one is `…` if it was cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _text(value: Any) -> str:
    if value is Nothing.HERE:
        return "nothing"
    plain = isinstance(value, str) and value and "\n" not in value
    return visible(value) if plain else json.dumps(value, ensure_ascii=True)


def _apart(*texts: str) -> list[str]:
    """Return the strings cut to at most `LONGEST` characters each, so that their first difference stays visible.

    If one of them is too long, most of their common prefix is left out first.
    """
    if all(len(text) <= LONGEST for text in texts):
        return list(texts)
    same = max(0, len(commonprefix(texts)) - _CONTEXT)  # noqa: RUF071 - these are no paths
    return [cut(f"…{text[same:]}" if same else text, LONGEST) for text in texts]
