"""Measures what the runtime of a cache pod costs, on a real volume with its blocks in a directory.

`python -m tests.bench.cache --files 100000 --rounds 7` prints medians in seconds, how many blocks were read meanwhile,
and the memory of the agent. Redis, the client and the agent share the processors. `du` through the mount is what the
old operator did.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from stowplan.agents.cache.drivers.api import DatasetSize, Pulse
from stowplan.agents.cache.drivers.juicefs.measure import EXACT_INODES, JuiceFS
from tests.agents.cache.redis_server import program, running
from tests.agents.cache.runtime_agent import runtime
from tests.agents.cache.volume import Mount, Store, Volume, why_not
from tests.cluster.binaries import Missing, obtain
from tests.cluster.client import wait_for
from tests.cluster.tools import JUICEFS

PER_DIRECTORY = 1000


def main() -> int:
    """Gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cache", description=__doc__)
    parser.add_argument("--files", type=int, default=100_000, help="in directories of 1,000; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    given = parser.parse_args()
    found, server = obtain(JUICEFS), program()
    if isinstance(found, Missing) or server is None or why_not():
        sys.exit(str(found) if isinstance(found, Missing) else why_not() or "no redis-server on this machine")
    os.environ["PATH"] = f"{found.paths['juicefs'].parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        redis = stack.enter_context(running(folder / "redis", server))
        volume = Volume(found.paths["juicefs"], folder / "volume", redis.url(1), Store("file", f"{folder}/blocks/"))
        volume.format()
        node = Mount(volume, folder / "node")
        stack.callback(node.stop)
        node.start()
        fill(node, given.files)
        measure(node, given.rounds)
        say("agent, most memory in MiB after 30 s", memory(node, folder))
    return 0


def fill(node: Mount, files: int) -> None:
    """One directory of small files, and clones of it."""
    first = node.path / "0"
    first.mkdir()
    for number in range(min(files, PER_DIRECTORY)):
        (first / str(number)).write_bytes(b"x" * 100)
    for number in range(1, files // PER_DIRECTORY):
        node.run("clone", first, node.path / str(number))
    node.run("warmup", first)
    # The statistics of directories are written once a second.
    time.sleep(3)


def measure(node: Mount, rounds: int) -> None:
    """Prints the cost of each question."""
    before = gets(node)
    exact, statistical = JuiceFS(EXACT_INODES), JuiceFS(exact_inodes=-1)
    pulse = median(rounds, lambda: exact.pulse(node.path))
    size = median(rounds, lambda: exact.extent(node.path))
    rough = median(rounds, lambda: statistical.extent(node.path))
    found, told = exact.extent(node.path), exact.pulse(node.path)
    assert isinstance(found, DatasetSize), found
    assert isinstance(told, Pulse), told
    say("files", found.files)
    say("bytes", found.bytes)
    say("bytes in the cache", told.cached_bytes or 0)
    say("pulse, s", pulse)
    say("exact size, s", size)
    say("size by statistics, s", rough)
    say("a status round, s", pulse + size)
    say("blocks read meanwhile", gets(node) - before)
    (node.path / "0" / "0").read_bytes()
    say("blocks read with one file", gets(node) - before)
    command = ["du", "-scb", str(node.path)]
    walk = median(1, lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
    say("du through the mount, s", walk)


def gets(node: Mount) -> int:
    """Blocks that the client read from its cache or from the object store."""
    stats = node.stats()
    return int(stats["juicefs_blockcache_hits"] + stats["juicefs_blockcache_miss"])


def memory(node: Mount, folder: Path) -> float:
    """Of a running agent that measures as often as it may."""
    with runtime(folder / "agent", node) as agent:
        wait_for(agent.said(message="Measured"), what="a measurement")
        time.sleep(30)
        status = Path(f"/proc/{agent.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def median(rounds: int, work: Callable[[], object]) -> float:
    """Seconds."""
    took = []
    for _ in range(rounds):
        begin = time.monotonic()
        work()
        took.append(time.monotonic() - begin)
    return statistics.median(took)


def say(what: str, value: float) -> None:
    sys.stdout.write(f"{what}: {value:,.2f}\n" if isinstance(value, float) else f"{what}: {value:,}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
