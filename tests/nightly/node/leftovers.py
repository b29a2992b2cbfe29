"""What a place leaves on the machine when the tests are killed: folders, and control groups without processes.

A file of state names them while there is a place. It is also the lock: of each number there is one place at a time.
"""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.binaries import cache_folder
from tests.nightly.node import network

SECONDS = 20
CGROUPS = Path("/sys/fs/cgroup")


def state_file() -> Path:
    """Of all checkouts, since they share the machine."""
    return cache_folder().with_name(f"node-{network.Own.place}.json")


@contextmanager
def named(folders: Sequence[Path], cgroups: Sequence[str]) -> Iterator[None]:
    """Take away what an earlier place left; then let there be these until the block ends, and take them away too."""
    state_file().parent.mkdir(parents=True, exist_ok=True)
    with state_file().open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        remove(_read(file.name))
        _write(file.name, {"folders": [str(each) for each in folders], "cgroups": list(cgroups)})
        try:
            yield
        finally:
            remove(_read(file.name))
            _write(file.name, {})


def remove(state: dict[str, list[str]]) -> None:
    """All that a state names. Its processes are dead or about to die."""
    if state:
        _await_end_of_network()
    for cgroup in state.get("cgroups", ()):
        for root in _groups(cgroup):
            _remove_group(root)
    for folder in state.get("folders", ()):
        shutil.rmtree(folder, ignore_errors=True)


def _await_end_of_network() -> None:
    """The kernel takes it away with the last process of its namespace."""
    deadline = time.monotonic() + SECONDS
    while Path("/sys/class/net", network.interface()).exists():
        if time.monotonic() > deadline:
            subprocess.run(["ip", "link", "delete", network.interface()], check=True)
        time.sleep(0.1)


def _groups(cgroup: str) -> list[Path]:
    """In all hierarchies: version 1 has one for each controller."""
    name = cgroup.strip("/")
    return [each for each in (CGROUPS / name, *CGROUPS.glob(f"*/{name}")) if each.is_dir()]


def _remove_group(root: Path) -> None:
    """From the inside out, once their processes have ended."""
    deadline = time.monotonic() + SECONDS
    while root.exists() and time.monotonic() < deadline:
        for path, _, _ in os.walk(root, topdown=False):
            with contextlib.suppress(OSError):
                Path(path).rmdir()
        if root.exists():
            time.sleep(0.1)


def _read(path: str) -> dict[str, list[str]]:
    text = Path(path).read_text(encoding="utf-8")
    state: dict[str, list[str]] = json.loads(text) if text else {}
    return state


def _write(path: str, state: dict[str, list[str]]) -> None:
    Path(path).write_text(json.dumps(state), encoding="utf-8")
