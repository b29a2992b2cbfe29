"""Measures the transfer agent beside the Hub's own client, on a loopback server and a file system in memory.

`python -m tests.bench.transfer.hub --big-mib 2048 --small 2000 --rounds 7` prints one table for each workload: medians
of interleaved rounds. What a program needs to start is measured apart and taken off. The server shares the processors,
and has no Xet, so that both take files over HTTP.
"""

import argparse
import hashlib
import json
import os
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

from tests.agents.transfer.hub_base import TOKEN, Hub
from tests.agents.transfer.hub_server import running
from tests.agents.transfer.hub_store import Entry, Repository, blob, pointer
from tests.bench.transfer.bench import say, watch_memory

SMALL_SIZE = 65536
NOTES = {
    "stowplan": "SHA-256 or Git's digest of each file, fsync from 1 MiB on, sync of all at the end",
    "hf download": "lengths, no fsync",
    "hf upload": "by the server",
}


@dataclass
class Bench:
    """A Hub with one repository, and a folder to copy to."""

    folder: Path
    hub: Hub
    repository: Repository

    @property
    def claim(self) -> Path:
        return self.folder / "claim"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "HF_ENDPOINT": self.hub.url,
            "HF_TOKEN": TOKEN,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_UPDATE_CHECK": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "REPO": self.repository.name,
        }

    def empty(self) -> None:
        shutil.rmtree(self.claim, ignore_errors=True)
        (self.claim / "data").mkdir(parents=True)

    def command(self, program: str, names: list[str], *, upload: bool) -> list[str]:
        data = f"{self.claim}/data"
        hf = str(Path(sys.executable).with_name("hf"))
        match program:
            case "hf download":
                return [hf, "download", self.repository.name, *names, "--local-dir", data]
            case "hf upload":
                return [hf, "upload", self.repository.name, data, "."]
        remote = {"type": "huggingface", "repoEnv": "REPO", "files": names}
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
        return [sys.executable, "-m", "stowplan.agents.transfer", f"--config={path}", "--allow-loopback"]

    def run(self, command: list[str]) -> tuple[float, int, int, str]:
        """Seconds, MiB of memory at most, exit code and output of a program."""
        with (self.folder / "output").open("w+", encoding="utf-8") as output:
            begin = time.monotonic()
            process = subprocess.Popen(command, env=self.environment, stdout=output, stderr=output)
            memory = [0]
            watching = threading.Thread(target=watch_memory, args=(process.pid, memory))
            watching.start()
            code = process.wait()
            wall = time.monotonic() - begin
            watching.join()
            output.seek(0)
            return wall, memory[0], code, output.read()

    def start_seconds(self, program: str) -> float:
        """What a program takes to do nothing but to import what it needs."""
        module = (
            "stowplan.agents.transfer.remotes.huggingface.engine" if program == "stowplan" else "huggingface_hub.cli.hf"
        )
        extra = ", stowplan.agents.transfer.command" if program == "stowplan" else ", huggingface_hub.hf_api"
        return self.run([sys.executable, "-c", f"import {module}{extra}"])[0]

    def compare(self, title: str, rounds: int, names: list[str], peer: str, prepare: Callable[[], None]) -> None:
        """Runs both programs in turn, so many times, and prints the table."""
        programs = ["stowplan", peer]
        starts: dict[str, list[float]] = {name: [] for name in programs}
        walls: dict[str, list[float]] = {name: [] for name in programs}
        memory = dict.fromkeys(programs, 0)
        for number in range(rounds):
            for name in programs if number % 2 else programs[::-1]:
                prepare()
                # In each round, since other programs may share the machine.
                starts[name].append(self.start_seconds(name))
                wall, mib, code, output = self.run(self.command(name, names, upload=peer == "hf upload"))
                if code:
                    sys.exit(f"{name} ended with {code}: {output[-2000:]}")
                walls[name].append(wall - starts[name][-1])
                memory[name] = max(memory[name], mib)
        other = statistics.median(walls[peer])
        say(f"\n{title}, {rounds} rounds")
        say("| program | median s | min-max s | to the peer | start s | MiB | durability and verification |")
        say("|---|---|---|---|---|---|---|")
        for name in programs:
            median, start = statistics.median(walls[name]), statistics.median(starts[name])
            spread = f"{min(walls[name]):.2f}-{max(walls[name]):.2f}"
            say(
                f"| {name} | {median:.2f} | {spread} | {median / other:.2f} | {start:.2f} | {memory[name]} "
                f"| {NOTES[name]} |"
            )

    def resume(self, program: str, big: int) -> None:
        """SIGKILL when half of the file was sent, and how much of it is sent once more."""
        self.empty()
        self.hub.sent_bytes = 0
        command = self.command(program, ["big.bin"], upload=False)
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.hub.sent_bytes < big // 2:
            if process.poll() is not None:
                sys.exit(f"{program} ended before half of the file was there")
            time.sleep(0.002)
        process.kill()
        process.wait()
        time.sleep(0.5)
        self.hub.sent_bytes = 0
        _, _, code, _ = self.run(command)
        say(f"| {program} | {code} | {100 * self.hub.sent_bytes // big} % |")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--big-mib", type=int, default=2048)
    parser.add_argument("--small", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="bench-") as name:
        folder = Path(name)
        (folder / "hub").mkdir()
        with running(folder / "hub") as hub:
            measure(Bench(folder, hub, hub.store.make("owner/name", writers={TOKEN})), given)


def measure(bench: Bench, given: argparse.Namespace) -> None:
    """All workloads."""
    big, hub, repository = given.big_mib << 20, bench.hub, bench.repository
    names = [f"{number // 100:03}/{number:06}.jpg" for number in range(given.small)]
    content = {name: os.urandom(SMALL_SIZE) for name in names}
    hub.store.put(repository, content)
    repository.files()["big.bin"] = _big(bench, big)
    bench.compare(f"Download of one file of {given.big_mib} MiB", given.rounds, ["big.bin"], "hf download", bench.empty)
    say(f"\nSIGKILL when half of a file of {given.big_mib} MiB was sent, then again")
    say("| program | exit code | sent again |")
    say("|---|---|---|")
    for program in ("stowplan", "hf download"):
        bench.resume(program, big)
    bench.empty()
    del repository.files()["big.bin"]
    bench.compare(f"Download of {given.small} files of 64 KiB", given.rounds, [], "hf download", bench.empty)
    bench.compare(f"Again, with nothing changed, {given.small} files", given.rounds, [], "hf download", lambda: None)
    _fill(bench, content)

    def forget() -> None:
        repository.refs["main"] = next(iter(repository.commits))

    bench.compare(f"Upload of {given.small} files of 64 KiB", given.rounds, [], "hf upload", forget)


def _fill(bench: Bench, content: dict[str, bytes]) -> None:
    bench.empty()
    for name, data in content.items():
        path = bench.claim / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _big(bench: Bench, size: int) -> Entry:
    """A large file in the storage, never in memory as a whole."""
    digest, path = hashlib.sha256(), bench.folder / "big"
    with path.open("wb") as file:
        for _ in range(size >> 20):
            data = os.urandom(1 << 20)
            digest.update(data)
            file.write(data)
    path.rename(bench.hub.store.content(digest.hexdigest()))
    return Entry(size, blob(pointer(digest.hexdigest(), size)), digest.hexdigest(), lfs=True)


if __name__ == "__main__":
    main()
