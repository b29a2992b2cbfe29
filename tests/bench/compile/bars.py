"""Bars for Stowplan. Ratios are judged, and seconds where a person waits for them."""

import statistics
from collections.abc import Iterator

from tests.bench.compile import programs
from tests.bench.compile.bench import Bench, Row
from tests.bench.compile.peers import HELM_CHECKED, KCL

TO_PEERS = {HELM_CHECKED: 1.0, KCL: 0.75}
"""At 1000 specs, from nothing: the ratio to peers that check their output, on the clock and by processor time."""

MOST_MIB = 350
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
    ours = bench.get(programs.SYNTH, 1000)
    for peer, most in TO_PEERS.items():
        other = bench.get(peer, 1000)
        if ours and other and other.seconds:
            clock, processor = ratio(ours, other), processor_ratio(ours, other)
            found = f"{clock:.2f}, CPU {processor:.2f}"
            yield f"1000 specs: at most {most} times {peer}", found, _met(max(clock, processor) <= most)
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
