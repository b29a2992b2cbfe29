"""One table of all measurements."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

HEADER = ("workload", "program", "rounds", "median s", "min-max s", "to fastest peer", "MiB", "start s", "found")


@dataclass(frozen=True)
class Row:
    """What one program did with one workload; what was not measured is empty. `found` is in words."""

    workload: str
    program: str
    rounds: int
    seconds: Sequence[float] = ()
    ratio: float | None = None
    memory: int | None = None
    start: float | None = None
    found: str = ""

    def cells(self) -> list[str]:
        """One text for each column."""
        middle = statistics.median(self.seconds) if self.seconds else None
        spread = f"{min(self.seconds):.2f}-{max(self.seconds):.2f}" if self.seconds else ""
        numbers = [_number(middle), spread, _number(self.ratio), "" if self.memory is None else str(self.memory)]
        return [self.workload, self.program, str(self.rounds), *numbers, _number(self.start), self.found]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def markdown(rows: Sequence[Row]) -> str:
    """The whole table."""
    lines = [HEADER, ["---"] * len(HEADER), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
