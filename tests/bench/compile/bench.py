"""Runs all programs on all sizes."""

import hashlib
import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.compile import programs
from tests.bench.compile.phases import ORDER
from tests.bench.compile.process import Memory, Run, run, run_sampled
from tests.bench.compile.programs import Program, Work
from tests.bench.compile.watching import edits

MOST_SECONDS = 600
"""What one run of ours may take."""

LONG = 20
"""Seconds after which one run is enough."""


@dataclass
class Row:
    """What one program did with so many specs. `size` is 0 where it does not matter."""

    program: Program
    size: int
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    memory: Memory | None = None
    left_out: str = ""
    found: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


@dataclass
class Bench:
    """All rows, in the order in which they are printed."""

    folder: Path
    programs: Sequence[Program]
    rounds: int
    limit: float
    """Seconds that one run of a peer may take."""
    compare: Callable[[Work, str], None]
    """Ends the bench when a peer's output is not the same as ours."""
    memory: bool = True
    """Whether a further run of each program is for its memory."""
    rows: dict[tuple[str, int], Row] = field(default_factory=dict)
    works: dict[int, Work] = field(default_factory=dict)
    phases: dict[int, Mapping[str, float]] = field(default_factory=dict)
    """Median seconds of each stage, by size."""

    def get(self, name: str, size: int) -> Row | None:
        """A row that was measured."""
        row = self.rows.get((name, size))
        return row if row and row.seconds else None

    def unsized(self) -> None:
        """What does not depend on the specs.

        Before that, commands that are not measured write the bytecode of all modules, which an installed package has.
        """
        with_size = Work(1, self.folder / "0")
        for lasting in (with_size.kept, with_size.checked):
            lasting.settle()
        self._measure(with_size, [each for each in self.programs if not each.sized], 0)

    def size(self, count: int, others: Sequence[str]) -> None:
        """All programs on so many specs. `others` are rows that are no single run."""
        work = self.works[count] = Work(count, self.folder / str(count))
        self._measure(work, [each for each in self.programs if each.sized], count)
        if programs.PHASES in others:
            self._phases(work)
        if programs.WATCH in others:
            self._watch(work)

    def _measure(self, work: Work, wanted: Sequence[Program], size: int) -> None:
        rows = {each.name: Row(each, size) for each in wanted}
        self.rows |= {(name, size): row for name, row in rows.items()}
        running = [row for row in rows.values() if not self._hopeless(row)]
        for number in range(self.rounds):
            # Whoever comes first finds the machine as the one before left it, so each comes first at times.
            turn = number % len(running) if running else 0
            for row in running[turn:] + running[:turn]:
                if row.left_out or (row.seconds and row.seconds[0] > LONG):
                    continue
                say(f"{size or ''} {row.program.name}, round {number + 1}")
                self._once(work, row)
        for row in running if self.memory else ():
            if not row.left_out:
                self._memory(work, row)
        self._same(work, rows)

    def _hopeless(self, row: Row) -> bool:
        """Whether a peer would take longer than it may, judged by the sizes before."""
        before = [each for (name, _), each in self.rows.items() if name == row.program.name and each is not row]
        if not row.program.peer or not before:
            return False
        last = before[-1]
        expected = last.median * row.size / last.size if last.seconds else None
        if expected is None or (last.size >= 100 and expected > self.limit):
            row.left_out = last.left_out if expected is None else f"left out: about {expected:.0f} s"
        return bool(row.left_out)

    def _once(self, work: Work, row: Row) -> None:
        row.program.prepare(work, row.program.name)
        limit = 2 * self.limit if row.program.peer else MOST_SECONDS
        ran = run(row.program.command(work), limit, row.program.variables(work))
        if row.program.peer and ran.code == -9:
            row.left_out = f"stopped after {limit:.0f} s"
            return
        _well(row.program.name, ran)
        row.seconds.append(ran.seconds)
        row.processor.append(ran.processor)

    def _memory(self, work: Work, row: Row) -> None:
        """In a further run."""
        row.program.prepare(work, row.program.name)
        before = _state(work.kept.repo) if row.program.name == programs.UNCHANGED else None
        ran, row.memory = run_sampled(row.program.command(work), MOST_SECONDS, row.program.variables(work))
        _well(row.program.name, ran)
        if before is not None:
            written = "nothing written" if _state(work.kept.repo) == before else "files WRITTEN"
            row.found = f"{written}, {'Node was STARTED' if 'node' in row.memory.programs else 'no Node'}"
        if row.program.name == programs.BASELINE and "node" in row.memory.programs:
            sys.exit("the baseline has started Node")

    def _same(self, work: Work, rows: Mapping[str, Row]) -> None:
        """The baseline's output is ours to the byte, and a peer's says the same."""
        ours = work.out(programs.SYNTH)
        if not ours.exists():
            return
        if work.out(programs.BASELINE).exists() and _digests(ours) != _digests(work.out(programs.BASELINE)):
            sys.exit("the baseline's output is not that of synth")
        for name, row in rows.items():
            if row.program.peer and row.seconds:
                self.compare(work, name)

    def _phases(self, work: Work) -> None:
        figures, found = work.folder / "phases.json", list[dict[str, float]]()
        for number in range(self.rounds):
            say(f"{work.size} phases, round {number + 1}")
            work.empty(programs.PHASES)
            _well("phases", run(programs.profiled(work, figures), MOST_SECONDS, programs.variables(work.cache)))
            found.append(json.loads(figures.read_text(encoding="utf-8")))
        self.phases[work.size] = {phase: statistics.median(each.get(phase, 0.0) for each in found) for phase in ORDER}

    def _watch(self, work: Work) -> None:
        say(f"{work.size} watch")
        work.kept.settle()
        note = "from the end of the write to its answer"
        row = Row(Program(programs.WATCH, lambda _: [], note=note), work.size, edits(work, self.rounds + 2))
        self.rows[programs.WATCH, work.size] = row


def _well(name: str, ran: Run) -> None:
    if ran.code:
        sys.exit(f"{name} ended with {ran.code}: {ran.output[-3000:]}")


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    """Which files there are, and when they were written."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in files}


def _digests(folder: Path) -> dict[Path, bytes]:
    return {
        path.relative_to(folder): hashlib.blake2b(path.read_bytes()).digest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def say(text: str) -> None:
    """How far it is."""
    sys.stderr.write(f"{text.strip()}\n")
    sys.stderr.flush()
