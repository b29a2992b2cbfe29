"""Measures the transfer agent beside rclone and s5cmd, on a loopback server and a file system in memory.

`python -m tests.bench.transfer --big-mib 2048 --small 20000 --rounds 7` prints one table for each workload: medians of
interleaved rounds. What a program needs to start is measured apart and taken off. The server shares the processors.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import obstore

from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage, new_bucket, serving
from tests.bench.transfer.stub import pages
from tests.cluster.binaries import Missing, obtain
from tests.cluster.tools import VERSITYGW, Tool

RCLONE = Tool("rclone", "github.com/rclone/rclone", ("rclone",))
S5CMD = Tool("s5cmd", "github.com/peak/s5cmd/v2", ("s5cmd",))
PEERS = (RCLONE, S5CMD)

NOTES = {
    "stowplan": "If-Match on every request, MD5 where the ETag is one, fsync from 1 MiB on, sync of all at the end",
    "rclone": "MD5 where the ETag is one, no fsync",
    "s5cmd": "no digests, no fsync",
}
SMALL_SIZE = 65536


@dataclass
class Bench:
    """A server with its objects, and a folder to copy to."""

    folder: Path
    storage: Storage
    programs: dict[str, Path]

    @property
    def claim(self) -> Path:
        return self.folder / "claim"

    def run(self, command: list[str], environment: dict[str, str] | None = None) -> tuple[float, int, int, str]:
        """Seconds, MiB of memory at most, exit code and output of a program."""
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
            "S3_ENDPOINT": self.storage.endpoint,
            "RCLONE_CONFIG_X_TYPE": "s3",
            "RCLONE_CONFIG_X_PROVIDER": "Other",
            "RCLONE_CONFIG_X_ENV_AUTH": "true",
            "RCLONE_CONFIG_X_ENDPOINT": self.storage.endpoint,
            "RCLONE_CONFIG": str(self.folder / "rclone.conf"),
            **(environment or {}),
        }
        with (self.folder / "output").open("w+", encoding="utf-8") as output:
            begin = time.monotonic()
            process = subprocess.Popen(command, env=variables, stdout=output, stderr=output)
            memory = [0]
            watching = threading.Thread(target=watch_memory, args=(process.pid, memory))
            watching.start()
            code = process.wait()
            wall = time.monotonic() - begin
            watching.join()
            output.seek(0)
            return wall, memory[0], code, output.read()

    def agent(self, prefix: str, *, upload: bool = False) -> list[str]:
        """The command of ours, with its configuration."""
        remote = {
            "type": "s3",
            "uri": f"s3://{self.storage.bucket}/{prefix}/",
            "endpointEnv": "S3_ENDPOINT",
            "accessKeyIdEnv": "AWS_ACCESS_KEY_ID",
            "secretAccessKeyEnv": "AWS_SECRET_ACCESS_KEY",
        }
        local = {"type": "pvc", "claim": "c", "mountPath": str(self.claim), "path": "data"}
        config = {
            "target": {"kind": "DataCube", "namespace": "n", "name": "c"},
            "reportPhase": False,
            "source": local if upload else remote,
            "sink": remote if upload else local,
            "memoryMiB": 512,
            "state": None if upload else {"directory": ".stowplan/c", "lock": ".stowplan/lock"},
        }
        path = self.folder / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        return [sys.executable, "-m", "stowplan.agents.transfer", f"--config={path}"]

    def command(self, program: str, prefix: str, *, upload: bool) -> list[str]:
        """The command of one program for one direction."""
        data, name = f"{self.claim}/data/", str(self.programs.get(program, ""))
        bucket = f"{self.storage.bucket}/{prefix}/"
        match program:
            case "rclone":
                sides = [data, f"x:{bucket}"] if upload else [f"x:{bucket}", data]
                return [name, "copy", "--transfers=16", "--multi-thread-streams=8", "--s3-no-check-bucket", *sides]
            case "s5cmd":
                sides = [data, f"s3://{bucket}"] if upload else [f"s3://{bucket}*", data]
                return [name, f"--endpoint-url={self.storage.endpoint}", "--log=error", "cp", *sides]
            case _:
                return self.agent(prefix, upload=upload)

    def start_seconds(self, program: str) -> float:
        """What a program takes to do nothing."""
        words = {"rclone": ["version"], "s5cmd": ["version"]}.get(program)
        command = [str(self.programs[program]), *words] if words else [*self.agent("none"), "--help"]
        return statistics.median(self.run(command)[0] for _ in range(5))

    def compare(self, title: str, rounds: int, prepare: Callable[[], None], prefix: str, *, upload: bool) -> None:
        """Runs all programs in turn, so many times, and prints the table."""
        names = ["stowplan", *self.programs]
        starts = {name: self.start_seconds(name) for name in names}
        walls: dict[str, list[float]] = {name: [] for name in names}
        memory = dict.fromkeys(names, 0)
        for number in range(rounds):
            # Whoever comes first finds the caches as the one before left them, so each comes first at times.
            for name in names[number % len(names) :] + names[: number % len(names)]:
                prepare()
                target = f"{prefix}-{name}-{number}" if upload else prefix
                wall, mib, code, output = self.run(self.command(name, target, upload=upload))
                if code:
                    sys.exit(f"{name} ended with {code}: {output[-2000:]}")
                if upload:
                    there = obstore.list(self.storage.store, target).collect()
                    obstore.delete(self.storage.store, [each["path"] for each in there])
                walls[name].append(wall - starts[name])
                memory[name] = max(memory[name], mib)
        fastest = min(statistics.median(walls[name]) for name in self.programs)
        say(f"\n{title}, {rounds} rounds")
        say("| program | median s | min-max s | to the fastest peer | start s | MiB | durability and verification |")
        say("|---|---|---|---|---|---|---|")
        for name in names:
            median = statistics.median(walls[name])
            spread = f"{min(walls[name]):.2f}-{max(walls[name]):.2f}"
            ratio = f"{median / fastest:.2f}"
            say(f"| {name} | {median:.2f} | {spread} | {ratio} | {starts[name]:.2f} | {memory[name]} | {NOTES[name]} |")


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
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Builds what is missing, measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--big-mib", type=int, default=2048)
    parser.add_argument("--small", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--keys", type=int, default=1_000_000)
    given = parser.parse_args()
    programs = {}
    for tool in (VERSITYGW, *PEERS):
        found = obtain(tool)
        if isinstance(found, Missing):
            sys.exit(str(found))
        programs[tool.name] = found.paths[tool.programs[0]]
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="bench-") as name:
        folder = Path(name)
        (folder / "server").mkdir()
        with serving(programs.pop("versitygw"), folder / "server") as url:
            measure(Bench(folder, new_bucket(url), programs), given)


def measure(bench: Bench, given: argparse.Namespace) -> None:
    """All workloads."""
    bench.claim.mkdir()
    big, small = given.big_mib << 20, given.small
    fill(bench.storage, big, small)

    def empty() -> None:
        shutil.rmtree(bench.claim)
        (bench.claim / "data").mkdir(parents=True)

    empty()
    bench.compare(f"Download of one object of {given.big_mib} MiB", given.rounds, empty, "big", upload=False)
    resume(bench, big)
    bench.compare(f"Download of {small} objects of 64 KiB", given.rounds, empty, "small", upload=False)
    empty()
    bench.run(bench.agent("small"))
    start = bench.start_seconds("stowplan")
    again = [bench.run(bench.agent("small")) for _ in range(3)]
    say(f"\nAgain, with nothing changed, {small} objects: {statistics.median(each[0] for each in again) - start:.2f} s")

    def nothing() -> None:
        return

    bench.compare(f"Upload of {small} files of 64 KiB", given.rounds, nothing, "up-small", upload=True)
    empty()
    (bench.claim / "data" / "big").write_bytes(os.urandom(big))
    bench.compare(f"Upload of one file of {given.big_mib} MiB", given.rounds, nothing, "up-big", upload=True)
    empty()
    with pages(given.keys) as url:
        wall, mib, _, output = bench.run(bench.agent("listing"), {"S3_ENDPOINT": url})
    last = json.loads(output.splitlines()[-1])
    say(f"\nListing of {last['filesTotal']} keys: {wall:.1f} s, {mib} MiB")


def resume(bench: Bench, big: int) -> None:
    """SIGKILL at about half of the object, and how much of it is fetched once more."""
    shutil.rmtree(bench.claim)
    (bench.claim / "data").mkdir(parents=True)
    environment = {"S3_ENDPOINT": bench.storage.endpoint}
    environment |= {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    process = subprocess.Popen(bench.agent("big"), env=environment, stderr=subprocess.DEVNULL)
    state = bench.claim / ".stowplan/c/parts"
    while sum(each.stat().st_blocks * 512 for each in state.glob("*.part")) < big // 2:
        if process.poll() is not None:
            sys.exit("the agent ended before half of the object was there")
        time.sleep(0.005)
    process.kill()
    process.wait()
    _, _, code, output = bench.run(bench.agent("big"))
    events = [json.loads(line) for line in output.splitlines()]
    there = next((each["bytes"] for each in events if each["message"].startswith("Goes on")), 0)
    say(f"\nSIGKILL at half, then again: exit code {code}, {100 - 100 * there // big} % of the bytes fetched again")


def fill(storage: Storage, big: int, small: int) -> None:
    """The objects of the downloads; the big one is uploaded in parts, as programs do it."""
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        for _ in range(big >> 20):
            file.write(os.urandom(1 << 20))
        file.seek(0)
        obstore.put(storage.store, "big/big", file, chunk_size=16 << 20)
    for number in range(small):
        obstore.put(storage.store, f"small/{number // 1000:03}/{number:06}", os.urandom(SMALL_SIZE))


if __name__ == "__main__":
    main()
