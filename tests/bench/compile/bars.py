"""Bars for Stowplan. Ratios are judged, and seconds where a person waits for them."""

import statistics
from collections.abc import Iterator

from tests.bench.compile import programs
from tests.bench.compile.bench import Bench, Row
from tests.bench.compile.peers import HELM_CHECKED

TO_HELM_CHECKED = 1.2
"""At 1000 specs, from nothing: the ratio to Helm whose output is checked by the schemas of Kubernetes."""

MOST_MIB = 300
"""At 5000 specs, from nothing: proportional set sizes of all processes."""

SECONDS = (
    (programs.UNCHANGED, 1000, 0.3),
    (programs.CHANGED, 1000, 1.3),
    (programs.WATCH, 1000, 0.2),
    (programs.CHANGED, 5000, 3.0),
    (programs.HELP, 0, 0.2),
)
"""Row, number of specs, and the most that its median may be."""

Verdict = tuple[str, str, str]
"""The bar, what was found, and whether it is met."""


def judged(bench: Bench) -> Iterator[Verdict]:
    """All bars for which there are figures."""
    ours, helm = bench.get(programs.SYNTH, 1000), bench.get(HELM_CHECKED, 1000)
    if ours and helm and helm.seconds:
        found = ratio(ours, helm)
        yield (
            f"1000 specs: at most {TO_HELM_CHECKED} times {HELM_CHECKED}",
            f"{found:.2f}",
            _met(found <= TO_HELM_CHECKED),
        )
    large = bench.get(programs.SYNTH, 5000)
    if large and large.memory:
        mib = large.memory.tree
        yield f"5000 specs: at most {MOST_MIB} MiB in all processes", f"{mib:.0f} MiB", _met(mib <= MOST_MIB)
    for name, size, most in SECONDS:
        row = bench.get(name, size)
        if row:
            what = f"{name} of {size} specs" if size else name
            yield f"{what}: at most {most} s", f"{row.median:.3f} s", _met(row.median <= most)
    for size in (1000, 5000):
        unchanged = bench.get(programs.UNCHANGED, size)
        if unchanged:
            idle = "WRITTEN" not in unchanged.found and "STARTED" not in unchanged.found
            yield f"{size} specs unchanged: no Node, no file written", unchanged.found, _met(idle)


def ratio(row: Row, other: Row) -> float:
    """Median of the ratios of runs in the same round."""
    return statistics.median(a / b for a, b in zip(row.seconds, other.seconds, strict=False))


def processor_ratio(row: Row, other: Row) -> float:
    """Ratio of the least processor time of either row, which other work on the machine disturbs less."""
    return min(row.processor) / min(other.processor)


def _met(yes: bool) -> str:  # noqa: FBT001 - a verdict
    return "yes" if yes else "NO"
