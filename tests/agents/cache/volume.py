"""JuiceFS volumes, and mounts of them in the role of nodes."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.cache.redis_server import PASSWORD
from tests.agents.waiting import until
from tests.cluster.processes import Process, Processes

NAME = "stowplan-test"
"""Of all volumes of the tests."""

FORGETS = ("--entry-cache=0", "--dir-entry-cache=0", "--attr-cache=0")
"""Options of a mount that shows at once what other clients do. Else a name that it has just looked up leads to the same
file for one second more, which may be replaced or in the trash by then (JuiceFS's cache of entries, in the kernel).
"""


@dataclass(frozen=True)
class Store:
    """Where a volume keeps its blocks: what `juicefs format` calls storage, bucket and keys."""

    storage: str
    bucket: str
    access_key: str = ""
    secret_key: str = ""


@dataclass(frozen=True)
class Volume:
    """A formatted volume."""

    program: Path
    folder: Path
    metadata: str
    """Address of the metadata engine, without its password."""
    store: Store
    password: str = PASSWORD
    name: str = NAME

    @property
    def secret(self) -> dict[str, str]:
        """The volume's Secret, by the keys of the JuiceFS CSI driver."""
        found = {
            "name": self.name,
            "metaurl": self.metadata.replace("redis://", f"redis://:{self.password}@"),
            "storage": self.store.storage,
            "bucket": self.store.bucket,
            "access-key": self.store.access_key,
            "secret-key": self.store.secret_key,
        }
        return {key: value for key, value in found.items() if value}

    @property
    def environment(self) -> dict[str, str]:
        """What the client needs, and nothing of the machine's own."""
        found = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "META_PASSWORD": self.password}
        return found | ({"ACCESS_KEY": self.store.access_key} if self.store.access_key else {}) | (
            {"SECRET_KEY": self.store.secret_key} if self.store.secret_key else {}
        )  # fmt: skip

    def run(self, *arguments: str | Path, timeout: float = 120, environment: Mapping[str, str] | None = None) -> str:
        """What `juicefs` prints; CalledProcessError if it fails."""
        return subprocess.run(
            [self.program, *arguments],
            env=self.environment | dict(environment or {}),
            capture_output=True,
            text=True,
            check=True,
            timeout=timeout,
        ).stdout

    def format(self) -> None:
        """Makes it, with everything else as JuiceFS has it: a trash, and blocks of 4 MiB."""
        self.folder.mkdir(exist_ok=True)
        where = (f"--storage={self.store.storage}", f"--bucket={self.store.bucket}")
        self.run("format", *where, self.metadata, self.name)


@dataclass
class Mount:
    """One mount of a volume, with a cache of its own: a node."""

    volume: Volume
    folder: Path
    options: Sequence[str] = ()
    path: Path = field(init=False)
    cache: Path = field(init=False)
    _processes: Processes = field(init=False)

    def __post_init__(self) -> None:
        self.path, self.cache = self.folder / "mnt", self.folder / "cache"
        self.path.mkdir(parents=True)
        self._processes = Processes(self.folder, grace=5)

    @property
    def process(self) -> Process:
        """The client that serves the mount."""
        return self._processes.running[-1]

    def start(self) -> None:
        """Mounts, also for one more time after a kill."""
        # As a supervisor would start it: there is none, since it would bring a client back that a test killed.
        variables = self.volume.environment | {"JFS_SUPERVISOR": "1"}
        arguments = [
            "mount",
            f"--cache-dir={self.cache}",
            "--cache-size=256",
            "--free-space-ratio=0.01",
            "--metrics=127.0.0.1:0",
            "--backup-meta=0",
            "--no-usage-report",
            *self.options,
            self.volume.metadata,
            str(self.path),
        ]
        environment = ["-i", *(f"{key}={value}" for key, value in variables.items())]
        client = self._processes.start(
            Path("/usr/bin/env"), [*environment, str(self.volume.program), *arguments], name="juicefs"
        )
        client.await_ready(self._is_mounted, 60)

    def _is_mounted(self) -> bool:
        return any(target == str(self.path) for target, _ in _mounted())

    def freeze(self) -> None:
        """The client answers nothing any more."""
        self.process.popen.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.popen.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends the client at once: its mount stays and says that nobody serves it."""
        self.process.popen.kill()
        self.process.popen.wait()
        self._processes.running.clear()

    def unmount(self) -> None:
        """Takes the mount away, whoever uses it."""
        if self._is_mounted():
            subprocess.run(["umount", "--lazy", self.path], check=False)

    def stop(self) -> None:
        """Ends everything, whatever state it is in."""
        self.unmount()
        for each in self._processes.running:
            with suppress(ProcessLookupError):
                each.popen.send_signal(signal.SIGCONT)
        self._processes.stop()
        self.unmount()

    def run(self, *arguments: str | Path, timeout: float = 120) -> str:
        """What `juicefs` prints."""
        return self.volume.run(*arguments, timeout=timeout)

    def stats(self) -> dict[str, float]:
        """The client's own numbers by name."""
        lines = (self.path / ".stats").read_text(encoding="utf-8").splitlines()
        return {name: float(value) for name, value in (line.split(" ", 1) for line in lines)}

    def await_written(self) -> None:
        """Waits until all blocks of the cache are on its disk: before, they are counted otherwise."""
        until(lambda: self.stats()["juicefs_store_cache_size_bytes"] == 0)


def why_not() -> str:
    """Why nothing can be mounted on this machine; empty if it can."""
    if not Path("/dev/fuse").exists() or os.geteuid() != 0:
        return "no right to mount: needs /dev/fuse and root"
    if shutil.which("fusermount3") is None and shutil.which("fusermount") is None:
        return "no fusermount on this machine (Debian: fuse3)"
    return ""


def sweep(own: Path) -> None:
    """Takes away what tests that were killed left: mounts that no client serves.

    `own` is the folder of this process's tests: what others that run at this moment do below its parent stays too.
    """
    kept = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    for target, source in _mounted():
        if source != f"JuiceFS:{NAME}" or Path(target).is_relative_to(kept):
            continue
        try:
            os.statvfs(target)
        except OSError:
            subprocess.run(["umount", "--lazy", target], check=False)


def _mounted() -> list[tuple[str, str]]:
    """Target and source of all mounts."""
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return [(fields[1], fields[0]) for fields in map(str.split, lines)]
