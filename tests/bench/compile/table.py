"""The tables of all measurements."""

import statistics
from collections.abc import Iterable, Sequence

from tests.bench.compile.bars import judged, processor_ratio, ratio
from tests.bench.compile.bench import Bench, Row
from tests.bench.compile.phases import ORDER
from tests.bench.compile.programs import BASELINE, SYNTH

HEADER = (
    "specs",
    "program",
    "runs",
    "median s",
    "min-max s",
    "CPU s",
    "ms/spec",
    "to baseline",
    "to synth",
    "CPU to baseline",
    "CPU to synth",
    "tree MiB",
    "largest MiB",
    "note",
)


def markdown(bench: Bench, sizes: Sequence[int]) -> str:
    """All tables."""
    rows = [[*_cells(bench, row)] for row in bench.rows.values()]
    parts = [_table(HEADER, rows), _table(("bar", "found", "met"), judged(bench))]
    if bench.phases:
        figures = ([str(size), *(f"{bench.phases[size][name]:.3f}" for name in ORDER)] for size in sizes)
        parts.insert(1, _table(("specs", *(f"{name}, s" for name in ORDER)), figures))
    return "\n\n".join(parts)


def _cells(bench: Bench, row: Row) -> Iterable[str]:
    size = str(row.size) if row.size else ""
    note = ", ".join(text for text in (row.program.note, row.found, row.left_out) if text)
    if not row.seconds:
        return [size, row.program.name, "0", *[""] * (len(HEADER) - 4), note]
    return [
        size,
        row.program.name,
        str(len(row.seconds)),
        f"{row.median:.3f}",
        f"{min(row.seconds):.3f}-{max(row.seconds):.3f}",
        f"{statistics.median(row.processor):.3f}" if row.processor else "",
        f"{1000 * row.median / row.size:.2f}" if row.size else "",
        _ratio(row, bench.get(BASELINE, row.size)),
        _ratio(row, bench.get(SYNTH, row.size)),
        _processor_ratio(row, bench.get(BASELINE, row.size)),
        _processor_ratio(row, bench.get(SYNTH, row.size)),
        f"{row.memory.tree:.0f}" if row.memory else "",
        f"{row.memory.largest:.0f}" if row.memory else "",
        note,
    ]


def _ratio(row: Row, other: Row | None) -> str:
    return "" if other is None or not row.processor else f"{ratio(row, other):.2f}"


def _processor_ratio(row: Row, other: Row | None) -> str:
    return "" if other is None or not row.processor else f"{processor_ratio(row, other):.2f}"


def _table(header: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
