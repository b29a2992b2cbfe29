"""A real Redis: metadata engine of volumes and store of objects. It can be stopped and started again."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.processes import Processes, free_port, listens

PASSWORD = "redis-CANARY-Xy7-0123456789"
"""Must never be seen in arguments, logs and status."""


def program() -> Path | None:
    """The server of this machine (Debian: `redis-server`)."""
    found = shutil.which("redis-server")
    return Path(found) if found else None


@dataclass
class Redis:
    """One server on a folder, which keeps what was written also when it is killed."""

    folder: Path
    executable: Path
    port: int = field(default_factory=free_port)
    address: str = "127.0.0.1"
    _processes: Processes = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        # What is in memory needs no end in peace: it is in the append-only file already.
        self._processes = Processes(self.folder, grace=1)

    def url(self, database: int) -> str:
        """Address of one of its 16 databases, without the password."""
        return f"redis://{self.address}:{self.port}/{database}"

    def ask(self, database: int, *words: str) -> list[str]:
        """What a command gives, by the client that comes with the server."""
        command = ["redis-cli", "-h", self.address, "-p", str(self.port), "-n", str(database), *words]
        variables = os.environ | {"REDISCLI_AUTH": PASSWORD}
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout.splitlines()

    def start(self) -> None:
        """Starts it, also for one more time, with what it held before."""
        configuration = self.folder / "redis.conf"
        lines = (
            f"bind {self.address}",
            f"port {self.port}",
            f"dir {self.folder}",
            f"requirepass {PASSWORD}",
            "appendonly yes",
            'save ""',
            "maxmemory-policy noeviction",
        )
        configuration.write_text("\n".join(lines) + "\n", encoding="utf-8")
        server = self._processes.start(self.executable, [str(configuration)], name="redis")
        server.await_ready(
            lambda: "Ready to accept connections" in server.tail(3) and listens(self.port, self.address), 30
        )

    def kill(self) -> None:
        """Ends it at once: clients lose their connections and get no new ones."""
        for each in self._processes.running:
            each.popen.kill()
            each.popen.wait()
        self._processes.running.clear()

    stop = kill


@contextmanager
def running(folder: Path, executable: Path, address: str = "127.0.0.1") -> Iterator[Redis]:
    """A running server."""
    server = Redis(folder, executable, address=address)
    try:
        server.start()
        yield server
    finally:
        server.stop()
