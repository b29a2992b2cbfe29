"""What ours has to meet. Ratios are judged; so are seconds where they are what a person waits for."""

import statistics
from collections.abc import Iterator

from tests.bench.compile import programs
from tests.bench.compile.bench import Bench, Row
from tests.bench.compile.peers import HELM_CHECKED

TO_BASELINE = {1000: 3.0, 5000: 2.0}
RACES = (1000, 5000)
MOST_MIB = 250
UNCHANGED_FACTOR = 6
UNCHANGED_SECONDS, HELP_SECONDS, VALIDATE_SECONDS, WATCH_SECONDS = 0.35, 0.2, 1.0, 0.1

Verdict = tuple[str, str, str]
"""The bar, what was found, and whether it is met."""


def judged(bench: Bench) -> Iterator[Verdict]:
    """All bars for which there are figures."""
    yield from _whole_runs(bench)
    yield from _partial_runs(bench)


def _whole_runs(bench: Bench) -> Iterator[Verdict]:
    for size, most in TO_BASELINE.items():
        ours, base = bench.get(programs.SYNTH, size), bench.get(programs.BASELINE, size)
        if ours and base:
            found = ratio(ours, base)
            cpu = processor_ratio(ours, base)
            yield f"{size} specs: at most {most} times the baseline", f"{found:.2f}, CPU {cpu:.2f}", _met(found <= most)
    for size in RACES:
        yield from _races(bench, size)
    large, small = bench.get(programs.SYNTH, 5000), bench.get(programs.SYNTH, 1000)
    if large and small:
        each, before = 1000 * large.median / 5000, 1000 * small.median / 1000
        yield "a spec of 5000 costs no more than one of 1000", f"{each:.2f} ms, {before:.2f} ms", _met(each <= before)
    if large and large.memory:
        mib = large.memory.tree
        yield f"5000 specs: below {MOST_MIB} MiB in all processes", f"{mib:.0f} MiB", _met(mib < MOST_MIB)


def _races(bench: Bench, size: int) -> Iterator[Verdict]:
    """The first is the bar. The others are what people choose between: who checks nothing there does it elsewhere."""
    peers = [row for (_, count), row in bench.rows.items() if count == size and row.program.peer]
    checked = [row for row in peers if row.program.name == HELM_CHECKED]
    whole, changed = bench.get(programs.SYNTH, size), bench.get(programs.CHANGED, size)
    if peers and whole:
        yield _race(f"{size} specs: faster than every peer", whole, peers)
    if checked and whole:
        yield _race(f"{size} specs: faster than {HELM_CHECKED}", whole, checked)
    if peers and changed:
        yield _race(f"one of {size} changed: faster than every peer, which makes all anew", changed, peers)


def _race(bar: str, ours: Row, peers: list[Row]) -> Verdict:
    ran = {row.program.name: ratio(row, ours) for row in peers if row.seconds}
    if not ran:
        return bar, "no peer ran", "NO"
    name = min(ran, key=lambda each: ran[each])
    return bar, f"{name} takes {ran[name]:.2f} times as long", _met(ran[name] > 1)


def _partial_runs(bench: Bench) -> Iterator[Verdict]:
    unchanged, changed = bench.get(programs.UNCHANGED, 5000), bench.get(programs.CHANGED, 5000)
    node, python = bench.get(programs.NODE_START, 0), bench.get(programs.PYTHON, 0)
    if unchanged and changed and node and python:
        most = UNCHANGED_FACTOR * unchanged.median + node.median - python.median
        bar = f"one of 5000 changed: at most {UNCHANGED_FACTOR} times an unchanged run, and one start of Node"
        yield bar, f"{changed.median:.3f} s of {most:.3f} s", _met(changed.median <= most)
    if unchanged:
        idle = "WRITTEN" not in unchanged.found and "STARTED" not in unchanged.found
        found = f"{unchanged.median:.3f} s, {unchanged.found}"
        bar = f"5000 unchanged: below {UNCHANGED_SECONDS} s, without Node or a write"
        yield bar, found, _met(unchanged.median < UNCHANGED_SECONDS and idle)
    yield from _below(bench, programs.HELP, 0, HELP_SECONDS)
    for name in (programs.VALIDATE, programs.VALIDATE_AGAIN, programs.VALIDATE_CHANGED):
        yield from _below(bench, name, 1000, VALIDATE_SECONDS)
    for size in RACES:
        yield from _below(bench, programs.WATCH, size, WATCH_SECONDS)


def _below(bench: Bench, name: str, size: int, most: float) -> Iterator[Verdict]:
    row = bench.get(name, size)
    if row:
        what = f"{name} of {size} specs" if size else name
        yield f"{what}: below {most} s", f"{row.median:.3f} s", _met(row.median < most)


def ratio(row: Row, other: Row) -> float:
    """Median of the ratios of runs in the same round."""
    return statistics.median(a / b for a, b in zip(row.seconds, other.seconds, strict=False))


def processor_ratio(row: Row, other: Row) -> float:
    """Of the least that either took of processors, which others on the machine disturb less."""
    return min(row.processor) / min(other.processor)


def _met(yes: bool) -> str:  # noqa: FBT001 - a verdict
    return "yes" if yes else "NO"
