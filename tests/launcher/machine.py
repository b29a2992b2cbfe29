"""Pods as processes of this machine, with addresses of 127.0.0.0/8 and a separate `/etc/hosts`."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.launcher.kubelet import ADDRESS, Container, Pod
from tests.repositories import REPOSITORY

_LONGEST = 60
_PAUSE = 0.01
_NAMESPACES = ("--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
_UNSHARE = (("unshare", *_NAMESPACES), ("unshare", "--user", "--map-root-user", *_NAMESPACES))
_FILES = ("hosts", "nsswitch.conf", "resolv.conf")
"""Files of /etc that each pod has for itself."""

_MOUNT = f"""\
for file in {" ".join(_FILES)}; do mount --bind "$1/$file" /etc/$file || exit 1; done
echo "$2" > /proc/sys/kernel/hostname && shift 2 && exec "$@"
"""
_STAND_INS = Path(__file__).parent / "stand_ins"
"""Stands for the programs of images."""

_PATH = f"{_STAND_INS}:{Path(sys.executable).parent}:{os.defpath}"
_ENV = {"PATH": _PATH}
_last_bytes = cycle(range(2, 255))


@cache
def namespace_command() -> tuple[str, ...] | None:
    """What starts a program in namespaces of its own for mounts, the host name and processes; None where nothing may.

    Its processes end with it, as those of a container do.
    """
    test = ("mount", "--bind", "/etc/hosts", "/etc/hosts")
    for command in _UNSHARE:
        if shutil.which(command[0]):
            tried = subprocess.run([*command, *test], check=False, capture_output=True)
            if tried.returncode == 0:
                return command
    return None


def new_address() -> str:
    """An address that nobody else uses: two bytes tell this process from other ones, the last one its latest pods."""
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
    starts: dict[Pod, Callable[[], "subprocess.Popen[bytes]"]] = field(default_factory=dict)

    def codes(self, deciding: str | None = None, longest: float = _LONGEST) -> dict[str, int | None]:
        """Exit codes once all succeeded or one failed, by `<role>-<index>`. None for those that still ran then.

        With a `deciding` role its pods alone must have ended. Fails after `longest` seconds.
        """
        end = time.monotonic() + longest
        while time.monotonic() < end:
            found = {pod.title: process.poll() for pod, process in self.processes.items()}
            awaited = [found[pod.title] for pod in self.processes if deciding in (None, pod.role)]
            if None not in awaited or any(found.values()):
                return found
            time.sleep(_PAUSE)
        raise AssertionError(f"no end: {self.said()}")

    def code(self, title: str, longest: float = _LONGEST) -> int:
        """Exit code of one pod."""
        return self.processes[self._pod(title)].wait(longest)

    def ended(self) -> list[int]:
        """Exit codes of the pods that have ended."""
        return [code for process in self.processes.values() if (code := process.poll()) is not None]

    def kill(self, title: str) -> None:
        """Ends all processes of a pod by SIGKILL."""
        process = self.processes[self._pod(title)]
        process.kill()
        process.wait()

    def start(self, title: str) -> None:
        """Starts a pod that has ended once more."""
        pod = self._pod(title)
        self.processes[pod] = self.starts[pod]()

    def _pod(self, title: str) -> Pod:
        (pod,) = [pod for pod in self.processes if pod.title == title]
        return pod

    def said(self, title: str | None = None) -> str:
        """What one pod wrote, or all of them."""
        return "".join((self.folder / pod.hostname).read_text() for pod in self.processes if title in (None, pod.title))


@contextmanager
def running(
    folder: Path,
    pods: Iterable[Pod],
    names: Mapping[str, str],
    changed: Mapping[str, Mapping[str, str]] | None = None,
    *,
    delays: Mapping[str, float] | None = None,
    name_server: str | None = None,
    path: str | None = None,
    claims: Mapping[str, Path] | None = None,
    network: Path | None = None,
) -> Iterator[Group]:
    """The pods, each with exactly its environment but for HOSTNAME and PATH; `names` are the addresses of all names.

    `changed` has other variables for single pods, by `<role>-<index>`, and `delays` the seconds after which single pods
    start. With the address of a `name_server`, pods ask it and know only themselves. `path` are folders with the
    programs of the pods' image; agents run by this Python. `claims` are the folders that pods mount for claims.
    `network` is one of their own, see `network`.
    """
    folder.mkdir()
    group = Group(folder)
    with ExitStack() as stack:
        for pod in pods:
            address = names.get(pod.name) or new_address()
            _write_files(folder, pod, {} if name_server else names, address, name_server)
            for sidecar in pod.sidecars:
                log = folder / f"{pod.hostname}-{sidecar.name}"
                stack.enter_context(_process(pod, [sidecar], address, log, network=network))
            main = Container(pod.role, pod.command, {**pod.env, **(changed or {}).get(pod.title, {})})
            delay = (delays or {}).get(pod.title, 0.0)
            log = folder / pod.hostname
            pod_of = partial(_process, path=path, mounts=_mounts(pod, claims or {}), network=network)
            start = partial(pod_of, pod, [*pod.init, main], address, log, delay=delay)
            group.starts[pod] = lambda start=start: stack.enter_context(start())  # type: ignore[misc]
            group.processes[pod] = group.starts[pod]()
        yield group


def _write_files(folder: Path, pod: Pod, names: Mapping[str, str], address: str, name_server: str | None) -> None:
    """What DNS has, and what a kubelet writes: a pod knows itself by its full name and by its host name."""
    content = (
        "".join(f"{each} {name}\n" for name, each in names.items()) + f"{address} {_own_names(pod)}\n",
        f"hosts: files{' dns' if name_server else ''}\n",
        f"nameserver {name_server}\n" if name_server else "",
    )
    etc = _etc(folder, pod)
    etc.mkdir()
    for name, text in zip(_FILES, content, strict=True):
        (etc / name).write_text(text)


def _etc(folder: Path, pod: Pod) -> Path:
    return folder / f"{pod.hostname}.etc"


def _own_names(pod: Pod) -> str:
    return _hostname(pod) if pod.on_host else f"{full_name(pod)} {pod.hostname}"


def full_name(pod: Pod) -> str:
    """The name by which the pod knows itself, and by which DNS has it too."""
    return f"{pod.name}.{pod.namespace}.svc.cluster.local"


def _mounts(pod: Pod, claims: Mapping[str, Path]) -> list[tuple[str, str, bool]]:
    """What `tests.launcher.pod` mounts: folder, place, and whether nothing may be written there."""
    wanted = [each for each in pod.mounts if each.claim in claims]
    return [(str(claims[each.claim] / each.sub_path), each.path, each.read_only) for each in wanted]


def _hostname(pod: Pod) -> str:
    return f"node-{pod.index}" if pod.on_host else pod.hostname


@contextmanager
def _process(
    pod: Pod,
    containers: Sequence[Container],
    address: str,
    log: Path,
    *,
    delay: float = 0,
    path: str | None = None,
    mounts: Sequence[tuple[str, str, bool]] = (),
    network: Path | None = None,
) -> Iterator["subprocess.Popen[bytes]"]:
    *before, last = containers
    programs = [_plan(pod, each, address, _PATH) for each in before] + [_plan(pod, last, address, path or _PATH)]
    plan = log.with_name(f"{log.name}.json")
    plan.write_text(json.dumps({"delay": delay, "mounts": mounts, "containers": programs}))
    joined = ["nsenter", f"--net={network}"] if network else []
    shell = [
        *joined,
        *(namespace_command() or ()),
        "sh",
        "-c",
        _MOUNT,
        "sh",
        str(_etc(log.parent, pod)),
        _hostname(pod),
    ]
    words = [*shell, sys.executable, str(Path(__file__).with_name("pod.py")), str(plan)]
    with log.open("ab") as output:
        process = subprocess.Popen(words, cwd=pod.directory or REPOSITORY, env=_ENV, stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _plan(pod: Pod, container: Container, address: str, path: str) -> dict[str, Any]:
    """What `tests.launcher.pod` reads of a container."""
    program, *arguments = (word.replace(ADDRESS, address) for word in container.command)
    variables = {name: value.replace(ADDRESS, address) for name, value in container.env.items()}
    variables |= {"HOSTNAME": _hostname(pod), "PATH": path}
    return {"command": [_stand_in(program), *arguments], "env": variables}


def _stand_in(program: str) -> str:
    """What is run for a program that images have in a folder of their own."""
    other = _STAND_INS / Path(program).name
    return str(other) if other.exists() else program
