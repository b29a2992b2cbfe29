"""Pods as processes of this machine, with addresses of 127.0.0.0/8 and an `/etc/hosts` of their own."""

import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path

from tests.launcher.kubelet import Pod
from tests.repositories import REPOSITORY

_LONGEST = 60
_PAUSE = 0.01
_UNSHARE = (("unshare", "--mount"), ("unshare", "--user", "--map-root-user", "--mount"))
_MOUNT = 'mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/nsswitch.conf && shift 2 && exec "$@"'
_PATH = f"{Path(sys.executable).parent}:{os.defpath}"
_last_bytes = count(2)


@cache
def namespace_command() -> tuple[str, ...] | None:
    """What starts a program in a mount namespace of its own; None where nothing may."""
    test = ("mount", "--bind", "/etc/hosts", "/etc/hosts")
    for command in _UNSHARE:
        if shutil.which(command[0]):
            tried = subprocess.run([*command, *test], check=False, capture_output=True)
            if tried.returncode == 0:
                return command
    return None


def new_address() -> str:
    """An address that nobody else uses: two bytes tell this process from other ones, the last one its pods."""
    own = os.getpid() % (254 * 254)
    return f"127.{1 + own // 254}.{1 + own % 254}.{next(_last_bytes)}"


def placed(pods: Iterable[Pod]) -> dict[str, str]:
    """Addresses by name: each pod has one, on the host network each node. Node i runs the pods of index i."""
    nodes: defaultdict[int, str] = defaultdict(new_address)
    return {pod.name: nodes[pod.index] if pod.on_host else new_address() for pod in pods}


@dataclass
class Group:
    """Running pods, and what they wrote."""

    folder: Path
    processes: dict[Pod, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def codes(self) -> dict[str, int | None]:
        """Exit codes once all succeeded or one failed, by `<role>-<index>`. None for those that still ran then."""
        end = time.monotonic() + _LONGEST
        while time.monotonic() < end:
            found = {pod.title: process.poll() for pod, process in self.processes.items()}
            if None not in found.values() or any(found.values()):
                return found
            time.sleep(_PAUSE)
        raise AssertionError(f"no end: {self.said()}")

    def code(self, title: str) -> int:
        """Exit code of one pod."""
        (process,) = [process for pod, process in self.processes.items() if pod.title == title]
        return process.wait(_LONGEST)

    def said(self, title: str | None = None) -> str:
        """What one pod wrote, or all of them."""
        return "".join((self.folder / pod.hostname).read_text() for pod in self.processes if title in (None, pod.title))


@contextmanager
def running(
    folder: Path, pods: Iterable[Pod], names: Mapping[str, str], changed: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[Group]:
    """The pods, each with exactly its environment but for PATH; `names` are the addresses of all names.

    `changed` has other variables for single pods, by `<role>-<index>`.
    """
    folder.mkdir()
    (folder / "hosts").write_text("".join(f"{address} {name}\n" for name, address in names.items()))
    (folder / "nsswitch").write_text("hosts: files\n")
    group = Group(folder)
    with ExitStack() as stack:
        for pod in pods:
            env = {**pod.env, **(changed or {}).get(pod.title, {})}
            group.processes[pod] = stack.enter_context(_process(folder, pod, env))
        yield group


@contextmanager
def _process(folder: Path, pod: Pod, env: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    mounts = [str(folder / "hosts"), str(folder / "nsswitch")]
    command = [*(namespace_command() or ()), "sh", "-c", _MOUNT, "sh", *mounts, *pod.command]
    with (folder / pod.hostname).open("wb") as log:
        process = subprocess.Popen(command, cwd=REPOSITORY, env={**env, "PATH": _PATH}, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
