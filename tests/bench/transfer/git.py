"""Measures the Git engine beside plain `git clone` and `git lfs pull`, on the same servers and a file system in memory.

`python -m tests.bench.transfer.git --rounds 7 --files 4000 --content-mib 256` prints one table for each workload:
medians of interleaved pairs. What the programs need to start is printed apart and not taken off. The server shares the
processors.
"""

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.agents.transfer.git.author import Author, author, variables
from tests.agents.transfer.git.server import Forge, serving

LFS = ("-c", "filter.lfs.process=git-lfs filter-process", "-c", "filter.lfs.required=true")
ATTRIBUTES = {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n"}


@dataclass(frozen=True)
class Bench:
    """A server without passwords, and a folder to copy to."""

    folder: Path
    forge: Forge

    @property
    def claim(self) -> Path:
        return self.folder / "claim"

    def empty(self) -> None:
        shutil.rmtree(self.claim, ignore_errors=True)
        (self.claim / "data").mkdir(parents=True)

    def agent(self, name: str) -> None:
        remote = {"type": "git", "urlEnv": "URL"}
        config = {
            "target": {"kind": "DataCube", "namespace": "n", "name": "c"},
            "reportPhase": False,
            "source": remote,
            "sink": {"type": "pvc", "claim": "c", "mountPath": str(self.claim), "path": "data"},
            "memoryMiB": 1024,
            "state": {"directory": ".stowplan/c", "lock": ".stowplan/lock"},
        }
        path = self.folder / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "URL": f"{self.forge.url}/{name}.git"}
        run(
            [sys.executable, "-m", "stowplan.agents.transfer", f"--config={path}", "--allow-loopback"],
            environment,
            self.folder,
        )

    def plain(self, name: str) -> None:
        """Pointers first, then all content at once: the usual way, and faster than file by file."""
        data, environment = self.claim / "data", variables(self.folder)
        skip = {**environment, "GIT_LFS_SKIP_SMUDGE": "1"}
        run(["git", *LFS, "clone", "-q", f"{self.forge.url}/{name}.git"], skip, data)
        run(["git", *LFS, "lfs", "pull"], environment, data / name)

    def again(self, name: str) -> None:
        """What a person does for the same end."""
        environment = variables(self.folder)
        run(["git", *LFS, "pull", "-q", "--ff-only"], environment, self.claim / "data" / name)
        run(["git", *LFS, "lfs", "pull"], environment, self.claim / "data" / name)

    def compare(self, title: str, name: str, rounds: int, *, again: bool = False) -> None:
        """Runs both in turn, so many times, and prints the table."""
        ways = {"stowplan": self.agent, "git": self.again if again else self.plain}
        walls: dict[str, list[float]] = {way: [] for way in ways}
        work: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(rounds):
            for way in sorted(ways, reverse=bool(number % 2)):
                if not again:
                    self.empty()
                begin, before = time.monotonic(), processor_seconds()
                ways[way](name)
                walls[way].append(time.monotonic() - begin)
                work[way].append(processor_seconds() - before)
        pairs = [one / other for one, other in zip(walls["stowplan"], walls["git"], strict=True)]
        say(f"\n{title}, {rounds} pairs")
        say("| program | median s | min-max s | processor s |\n|---|---|---|---|")
        for way, seconds in walls.items():
            spread = f"{min(seconds):.2f}-{max(seconds):.2f}"
            say(f"| {way} | {statistics.median(seconds):.2f} | {spread} | {statistics.median(work[way]):.2f} |")
        say(f"Median of the pairs' ratios: {statistics.median(pairs):.2f}")


def run(command: list[str], environment: dict[str, str], folder: Path) -> None:
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{command[:3]} ended with {done.returncode}: {(done.stderr + done.stdout).decode()[-2000:]}")


def processor_seconds() -> float:
    """Of all programs that have ended, and so of those of the server too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start_seconds(command: list[str]) -> float:
    """What a program takes to do nothing."""
    found = []
    for _ in range(5):
        begin = time.monotonic()
        subprocess.run(command, capture_output=True, check=True)
        found.append(time.monotonic() - begin)
    return statistics.median(found)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def fill(bench: Bench, files: int, mebibytes: int) -> tuple[Author, Author]:
    """A repository of many small files with some history, and one with content in Git LFS."""
    chance = random.Random(1)  # noqa: S311 - content of a benchmark
    small = author(bench.folder / "small", bench.forge, "small.git")
    names = [f"{number // 100:03}/{number:06}.py" for number in range(files)]
    for part in range(4):
        wanted = names if part == 0 else chance.sample(names, files // 10)
        small.commit({name: chance.randbytes(1500).hex().encode() for name in wanted})
    large = author(bench.folder / "large", bench.forge, "large.git")
    size = max(1, mebibytes // 16) << 20
    content = {f"{number}.big": chance.randbytes(size) for number in range(16)}
    large.commit({**ATTRIBUTES, **large.lfs(content)})
    return small, large


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=4000)
    parser.add_argument("--content-mib", type=int, default=256)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="bench-") as name, serving(Path(name) / "forge") as forge:
        forge.users = {}
        bench = Bench(Path(name), forge)
        fill(bench, given.files, given.content_mib)
        agent = start_seconds([sys.executable, "-m", "stowplan.agents.transfer", "--help"])
        git, lfs = start_seconds(["git", "version"]), start_seconds(["git-lfs", "version"])
        say(f"Start, part of the times below: stowplan {agent:.2f} s, git {git:.3f} s, git-lfs {lfs:.3f} s")
        bench.compare(f"Clone of {given.files} files with history", "small", given.rounds)
        bench.compare(f"Clone with {given.content_mib} MiB in 16 files of Git LFS", "large", given.rounds)
        bench.empty()
        bench.agent("large")
        bench.compare("Again, with nothing changed, Git LFS", "large", given.rounds, again=True)


if __name__ == "__main__":
    main()
