"""Measures warmup and sync of the cache agent beside `juicefs warmup` and `juicefs sync` by hand, and prints one table.

One volume on a node of this machine: Redis, blocks and cache in memory, an S3 server as the source. Medians of
interleaved rounds. What Python needs to start is measured apart: the second ratio is without it. Memory is the peak of
the agent's own process; that of the largest `juicefs` child stands beside it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.cache.redis_server import program, running
from tests.agents.cache.task_agent import Dataset, warmup_fields
from tests.agents.cache.volume import Mount, Store, Volume
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, new_bucket, serving
from tests.cluster.binaries import Missing, obtain
from tests.cluster.tools import JUICEFS, VERSITYGW

KIB, MIB = 1 << 10, 1 << 20


@dataclass
class Peaks:
    """Largest resident sizes in bytes, of one process and of its children."""

    own: int = 0
    children: int = 0


@dataclass
class Figure:
    """Seconds of each round, by hand and by the agent."""

    hand: list[float] = field(default_factory=list)
    agent: list[float] = field(default_factory=list)
    peaks: Peaks = field(default_factory=Peaks)

    def row(self, name: str, start: float) -> str:
        hand, agent = statistics.median(self.hand), statistics.median(self.agent)
        cells = (
            name,
            f"{hand:.2f}",
            f"{agent:.2f}",
            f"{agent / hand:.2f}",
            f"{(agent - start) / hand:.2f}",
            f"{self.peaks.own / MIB:.0f}",
            f"{self.peaks.children / MIB:.0f}",
        )
        return f"| {' | '.join(cells)} |"


@dataclass(frozen=True)
class Bench:
    """What the workloads share."""

    dataset: Dataset
    node: Mount
    rounds: int

    def start_seconds(self) -> float:
        """What the agent takes to find that it has nothing to do."""
        return statistics.median(timed(lambda: self._agent("warmup", warmup_fields(self.node, partitions=0)), 5))

    def warmup(self, folder: str) -> Figure:
        figure, path = Figure(), self.node.path / folder
        for _ in range(self.rounds):
            self.node.run("warmup", "--evict", path)
            figure.hand += timed(lambda: self.node.run("warmup", path))
            self.node.run("warmup", "--evict", path)
            figure.agent += timed(lambda: self._agent("warmup", warmup_fields(self.node, paths=[folder]), figure.peaks))
        return figure

    def sync(self, folder: str) -> Figure:
        figure, source = Figure(), f"{self.dataset.source}{folder}/"
        for number in range(self.rounds):
            with self._emptied("copy"):
                figure.hand += timed(lambda: self._by_hand(source))
            fields = self.dataset.sync_fields(source=source, destination="/copy/", completes=False)
            with self._emptied("copy"):
                run = f"{folder}-{number}"
                figure.agent += timed(lambda fields=fields, run=run: self._agent("sync", fields, figure.peaks, run))  # type: ignore[misc]
        return figure

    def _by_hand(self, source: str) -> None:
        keys = {"MINIO_ACCESS_KEY": ACCESS_KEY, "MINIO_SECRET_KEY": SECRET_KEY, "JFS": self.dataset.volume.metadata}
        self.dataset.volume.run("sync", "--check-new", source, "jfs://JFS/copy/", environment=keys)

    @contextmanager
    def _emptied(self, folder: str) -> Iterator[None]:
        yield
        self.node.run("rmr", self.node.path / folder)
        time.sleep(3)

    def _agent(self, task: str, fields: dict[str, object], peaks: Peaks | None = None, run: str = "run") -> None:
        with self.dataset.started(task, fields, run) as process:
            over = threading.Event()
            thread = threading.Thread(target=_watch, args=(process.pid, over, peaks or Peaks()))
            thread.start()
            output, _ = process.communicate()
            over.set()
            thread.join()
        if process.returncode and fields.get("partitions") != 0:
            raise RuntimeError(json.dumps(output.splitlines()[-3:]))


def timed(work: Callable[[], object], times: int = 1) -> list[float]:
    found = []
    for _ in range(times):
        begin = time.monotonic()
        work()
        found.append(time.monotonic() - begin)
    return found


def _watch(process: int, over: threading.Event, peaks: Peaks) -> None:
    while not over.wait(0.1):
        peaks.own = max(peaks.own, _peak(process))
        peaks.children = max([peaks.children, *map(_peak, _children(process))])


def _children(process: int) -> Sequence[int]:
    found: list[int] = []
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, tasks.read_text(encoding="ascii").split())
    return found


def _peak(process: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * KIB
    return 0


def measure(folder: Path, url: str, given: argparse.Namespace) -> list[str]:
    """Rows of the table."""
    client, server = obtain(JUICEFS), program()
    if isinstance(client, Missing) or server is None:
        sys.exit(str(client if isinstance(client, Missing) else "no redis-server on this machine"))
    with running(folder / "redis", server) as redis:
        volume = Volume(client.paths["juicefs"], folder / "volume", redis.url(1), Store("file", f"{folder}/blocks/"))
        volume.format()
        volume.run("config", volume.metadata, "--trash-days=0", "--yes")
        node = Mount(volume, folder / "node", ("--cache-size=4096",))
        node.start()
        try:
            return _rows(Bench(Dataset(volume, folder, new_bucket(url)), node, given.rounds), given)
        finally:
            node.stop()


def _rows(bench: Bench, given: argparse.Namespace) -> list[str]:
    sizes = {"small": (given.small, 64 * KIB), "big": (given.big, given.big_mib * MIB)}
    start, rows = bench.start_seconds(), []
    for name, (count, size) in sizes.items():
        chunk = os.urandom(size)
        bench.dataset.put({f"{name}/{number % 10}/{number}": chunk for number in range(count)})
        what = f"{count} x {size // KIB} KiB"
        rows.append(bench.sync(name).row(f"sync, {what}", start))
        for number in range(count):
            path = bench.node.path / name / f"{number % 10}/{number}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chunk)
        rows.append(bench.warmup(name).row(f"warmup, {what}", start))
        bench.node.run("rmr", bench.node.path / name)
        time.sleep(5)
    return [*rows, f"| start of the agent | - | {start:.2f} | - | - | - | - |"]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cache.tasks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--small", type=int, default=4000, help="files of 64 KiB; default: %(default)s")
    parser.add_argument("--big", type=int, default=2, help="big files; default: %(default)s")
    parser.add_argument("--big-mib", type=int, default=1024, help="size of a big file; default: %(default)s")
    given = parser.parse_args()
    found = obtain(VERSITYGW)
    if isinstance(found, Missing):
        sys.exit(str(found))
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="bench-") as folder:
        place = Path(folder)
        (place / "server").mkdir()
        with serving(found.paths["versitygw"], place / "server") as url:
            rows = measure(place, url, given)
    head = "| | by hand, s | agent, s | ratio | ratio without start | agent, MiB | child, MiB |"
    sys.stdout.write("\n".join([head, "|---" * 7 + "|", *rows]) + "\n")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stderr}")
