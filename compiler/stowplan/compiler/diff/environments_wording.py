"""The comparison of environments for a terminal, for a comment on a pull request, and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.diff.environments import Cell, EnvironmentColumn, Lag, different, lags, other_images
from stowplan.schema.meta import SpecId
from stowplan.schema.wording import counted

MOST_ROWS = 50
"""Maximum number of rows of a table in a comment."""


def table(columns: Sequence[EnvironmentColumn]) -> Table:
    """Return a table for a terminal with one row for each spec that is not the same everywhere."""
    found = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("SPEC", *(column.name for column in columns)):
        found.add_column(Text(visible(name)), overflow="fold")
    for spec in different(columns):
        found.add_row(*(Text(visible(each)) for each in _row(spec, columns)))
    return found


def lines(columns: Sequence[EnvironmentColumn]) -> Iterator[str]:
    """Yield lines such as `prod is behind stage by 1 of 3 specs:`, each with what is missing there."""
    same = len({spec for column in columns for spec in column.cells}) - len(different(columns))
    if same:
        yield f"{counted(same, 'spec')} {'is' if same == 1 else 'are'} the same everywhere."
    for lag in lags(columns):
        if not lag.number:
            yield f"{lag.name} is not behind {lag.of}."
        else:
            total = len(next(column.cells for column in columns if column.name == lag.of))
            yield f"{lag.name} is behind {lag.of} by {lag.number} of {counted(total, 'spec')}:"
        yield from (f"  {visible(text)}" for text in _reasons(lag))


def markdown(columns: Sequence[EnvironmentColumn]) -> str:
    """Return the table and the lines for a comment on a pull request."""
    rows = [_row(spec, columns) for spec in different(columns)]
    names = ("spec", *(column.name for column in columns))
    text = [_cells(names), _cells(["---"] * len(names), plain=True), *map(_cells, rows[:MOST_ROWS])] if rows else []
    if len(rows) > MOST_ROWS:
        text += ["", f"{len(rows) - MOST_ROWS} more are left out here; `stowplan diff` shows all."]
    said = [f"- {_code(each)}" if each[0] != " " else f"  - {_code(each.strip())}" for each in lines(columns)]
    return "\n".join(["### Stowplan: environments", "", *text, *([""] if text else []), *said[: 2 * MOST_ROWS], ""])


def records(columns: Sequence[EnvironmentColumn]) -> dict[str, Any]:
    """Return the comparison as data: `matrix`, a list of all specs with their cells, and `behind`, one of all lags."""
    specs = sorted({spec for column in columns for spec in column.cells})
    matrix = [
        spec._asdict()
        | {"in": {each.name: asdict(each.cells[spec]) if spec in each.cells else None for each in columns}}
        for spec in specs
    ]
    behind = [
        {
            "environment": lag.name,
            "of": lag.of,
            "missing": [spec._asdict() for spec in lag.missing],
            "alone": [spec._asdict() for spec in lag.alone],
            "older": [
                spec._asdict() | {"there": asdict(there), "here": asdict(here)}
                for spec, (there, here) in lag.older.items()
            ],
        }
        for lag in lags(columns)
    ]
    return {"matrix": matrix, "behind": behind}


def _row(spec: SpecId, columns: Sequence[EnvironmentColumn]) -> list[str]:
    return [str(spec), *(cell(column.cells.get(spec)) for column in columns)]


def cell(cell: Cell | None) -> str:
    """Return what an environment has of a spec in words, such as `run abcdefgh, train:1.2`; `-` for None."""
    if cell is None:
        return "-"
    runs = [f"run {cell.run}"] if cell.run else []
    waits = ["a run waits"] if cell.waits else []
    revisions = [f"revision {each}" for each in cell.revisions]
    return ", ".join([*runs, *waits, *cell.images, *revisions]) or "present"


def _reasons(lag: Lag) -> Iterator[str]:
    yield from (f"{spec} is in {lag.of} only" for spec in lag.missing)
    for spec, (there, here) in lag.older.items():
        if here.progress < there.progress:
            goes_on = f"; {here.run} goes on" if here.run else ""
            runs = f"run {there.run}" if there.run else "the spec"
            yield f"{spec}: {lag.of} has {runs}, in {lag.name} a run waits to be started{goes_on}"
        for one, other in other_images(there, here):
            yield f"{spec}: {lag.of} has the image {one}, {lag.name} {other}"
        if there.revisions != here.revisions and here.progress == there.progress:
            yield f"{spec}: {lag.of} has the revision {_listed(there.revisions)}, {lag.name} {_listed(here.revisions)}"
    yield from (f"{spec} is in {lag.name} only" for spec in lag.alone)


def _listed(values: Sequence[str]) -> str:
    return " and ".join(values) or "none"


def _cells(values: Sequence[str], *, plain: bool = False) -> str:
    return f"| {' | '.join(each if plain else _code(each) for each in values)} |"


def _code(text: str) -> str:
    """Return text as code that no character of it can end, also in a table."""
    return f"`{visible(text).replace('`', chr(39)).replace('|', '/')}`"
