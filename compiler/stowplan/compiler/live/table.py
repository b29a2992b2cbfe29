"""Statuses of specs as a table for people, and as data for programs."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.live.spec_status import SpecStatus

_STYLES = {"Healthy": "green", "Progressing": "cyan", "Suspended": "dim", "Degraded": "bold red"}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def table(found: Sequence[SpecStatus]) -> Table:
    """Return a table with one row per spec; specs that need action come first."""
    columns = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("SPEC", "PHASE", "PROGRESS", "HEALTH", "AGE", "REASON"):
        columns.add_column(name, overflow="fold" if name == "REASON" else "ellipsis", no_wrap=name != "REASON")
    for each in sorted(found, key=lambda status: (status.well, str(status.id))):
        health = Text(each.health, _STYLES.get(each.health, "bold yellow"))
        cells = (str(each.id), each.phase, each.progress, health, age(each.age_seconds), each.reason)
        columns.add_row(*(Text(visible(cell)) if isinstance(cell, str) else cell for cell in cells))
    return columns


def summary(found: Sequence[SpecStatus]) -> str:
    """Return a summary such as `3 specs: 1 Degraded, 2 Healthy`."""
    counts = Counter(each.health for each in found)
    words = ", ".join(f"{counts[word]} {word}" for word in sorted(counts))
    return f"{len(found)} spec{'' if len(found) == 1 else 's'}{f': {words}' if words else ''}"


def age(seconds: int | None) -> str:
    """Return an age in its largest unit, such as `3d`, `2h`, `5m` or `9s`; empty for None."""
    if seconds is None:
        return ""
    size, unit = next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])
    return f"{seconds // size}{unit}"


def records(found: Sequence[SpecStatus]) -> list[dict[str, Any]]:
    """Return a record with the fields of each status, sorted by kind, namespace and name; `ageSeconds` may be None."""
    return [
        {
            "kind": each.id.kind,
            "namespace": each.id.namespace,
            "name": each.id.name,
            "phase": each.phase,
            "progress": each.progress,
            "health": each.health,
            "reason": each.reason,
            "ageSeconds": each.age_seconds,
        }
        for each in sorted(found, key=lambda status: status.id)
    ]
