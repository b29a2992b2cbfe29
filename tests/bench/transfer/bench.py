"""Run programs and measure their time and memory."""

import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import obstore

from tests.agents.transfer.server import Storage
from tests.bench.transfer import peers
from tests.bench.transfer.peers import NOTES, OWN, OWN_VERIFIED, Side
from tests.bench.transfer.table import Row

HOPELESS = 3
"""A peer whose first round takes so many times as long as ours is not run again."""

BIGGEST = 600
"""Seconds that one run may take."""


@dataclass(frozen=True)
class Run:
    """One run of a program."""

    seconds: float
    memory: int
    """MiB at most."""
    code: int
    output: str


@dataclass
class Bench:
    """A server with its objects, and a folder to copy to."""

    folder: Path
    storage: Storage
    places: Mapping[str, Path]
    """Of the peers."""
    rows: list[Row] = field(default_factory=list)
    _starts: dict[str, list[float]] = field(default_factory=dict)
    """What each program took to do nothing, once beside each of its runs."""

    @property
    def claim(self) -> Path:
        return self.folder / "claim"

    def side(self, prefix: str, *, upload: bool = False) -> Side:
        return Side(self.storage.endpoint, self.storage.bucket, prefix, self.folder, upload)

    def empty(self) -> None:
        """A new claim."""
        shutil.rmtree(self.claim, ignore_errors=True)
        (self.claim / "data").mkdir(parents=True)

    def run(self, command: list[str], more: Mapping[str, str] | None = None) -> Run:
        variables = {**peers.environment(self.side("")), **(more or {})}
        with (self.folder / "output").open("w+", encoding="utf-8") as output:
            begin = time.monotonic()
            process = subprocess.Popen(command, env=variables, stdout=output, stderr=output)
            memory = [0]
            watching = threading.Thread(target=watch_memory, args=(process.pid, memory))
            watching.start()
            code = process.wait(BIGGEST)
            wall = time.monotonic() - begin
            watching.join()
            output.seek(0)
            return Run(wall, memory[0], code, output.read())

    def own(self, prefix: str, more: Mapping[str, str] | None = None) -> Run:
        """A download by ours, which must go well; its start is taken off."""
        self._start(OWN)
        ran = self.run(peers.own(self.side(prefix)), more)
        if ran.code:
            sys.exit(f"{OWN} ended with {ran.code}: {ran.output[-2000:]}")
        return replace(ran, seconds=ran.seconds - self.start(OWN))

    def start(self, name: str) -> float:
        """Seconds that a program takes to do nothing."""
        if name not in self._starts:
            self._start(name)
        return statistics.median(self._starts[name])

    def _start(self, name: str) -> None:
        command = peers.idle(name, self.side(""), self.places)
        self._starts.setdefault(name, []).append(self.run(command).seconds)

    def compare(self, workload: str, rounds: int, prefix: str, *, upload: bool = False, verified: bool = False) -> None:
        """Runs all programs in turn, so many times."""
        names = [OWN, *([OWN_VERIFIED] if verified else []), *self.places]
        runs: dict[str, list[Run]] = {name: [] for name in names}
        for number in range(rounds):
            # Whoever comes first finds the caches as the one before left them, so each comes first at times.
            for name in names[number % len(names) :] + names[: number % len(names)]:
                own = runs[OWN]
                if own and runs[name] and runs[name][0].seconds > HOPELESS * own[0].seconds:
                    continue
                say(f"{workload}: {name}, round {number + 1}")
                runs[name].append(self._once(name, f"{prefix}-{number}" if upload else prefix, upload=upload))
        walls = {name: [each.seconds - self.start(name) for each in found] for name, found in runs.items()}
        medians = {name: statistics.median(each) for name, each in walls.items()}
        fastest = min((medians[name] for name in self.places), default=None)
        for name, found in runs.items():
            ratio = medians[name] / fastest if fastest else None
            memory = max(each.memory for each in found)
            row = Row(workload, name, len(found), walls[name], ratio, memory, self.start(name), NOTES[name])
            self.rows.append(row)

    def _once(self, name: str, prefix: str, *, upload: bool) -> Run:
        """The start is in its seconds still."""
        self._start(name)
        if not upload:
            self.empty()
        ran = self.run(peers.command(name, self.side(prefix, upload=upload), self.places))
        if ran.code:
            sys.exit(f"{name} ended with {ran.code}: {ran.output[-2000:]}")
        if upload:
            there = [each["path"] for each in obstore.list(self.storage.store, prefix).collect()]
            obstore.delete(self.storage.store, there)
        return ran

    def note(self, workload: str, ran: Run | None, found: str, *, rounds: int = 1) -> None:
        """A line on ours alone."""
        seconds = [ran.seconds] if ran else []
        self.rows.append(Row(workload, OWN, rounds, seconds, None, ran.memory if ran else None, None, found))

    def wait_for(self, process: "subprocess.Popen[bytes]", ready: Callable[[], bool]) -> None:
        """Until something is the case, while a process still runs."""
        while not ready():
            if process.poll() is not None:
                sys.exit("the agent ended before it could be killed")
            time.sleep(0.002)


def watch_memory(process: int, highest: list[int]) -> None:
    """Keeps the high-water mark of a process, in MiB. What `wait4` gives counts the parent's memory before exec too."""
    while True:
        try:
            text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
        except OSError:
            return
        found = re.search(r"VmHWM:\s+(\d+) kB", text)
        if not found:
            return
        highest[0] = max(highest[0], int(found[1]) // 1024)
        time.sleep(0.02)


def say(text: str) -> None:
    """How far it is."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
