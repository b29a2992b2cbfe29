"""The await agents of helper pods as processes, in place of a kubelet that runs this one container.

KWOK plays the pods, which an annotation holds; the process decides how its pod ends.
"""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.client import ApiError, Manifest, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.pod_programs import Program

HOLD, EXIT_CODE = "kwok.stowplan.dev/hold", "kwok.stowplan.dev/exit-code"
CONTAINER = "await"


def end(cluster: Cluster, pod: Manifest, exit_code: int = 0) -> None:
    """Let all containers of a held pod end."""
    cluster.admin.patch(pod, {"metadata": {"annotations": {HOLD: None, EXIT_CODE: str(exit_code)}}})


@dataclass
class Attendant:
    """The agent of one pod. Its pod's address is one of loopback."""

    pod: Manifest
    address: str
    process: "subprocess.Popen[str]"
    folder: Path
    helper: socket.socket
    """Where the helper listens."""
    reported: bool = False

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8")

    def stop(self) -> None:
        self.helper.close()
        self.process.kill()
        self.process.wait()


@dataclass
class Attendants:
    """The agents of all helper pods in a namespace. Nothing moves but in `turn`, which `until` repeats."""

    cluster: Cluster
    namespace: str
    folder: Path
    port: int
    """What helpers listen on."""
    by_pod: dict[str, Attendant] = field(default_factory=dict)

    def until(self, holds: Callable[[], Any], timeout: float = 60, *, what: str = "condition") -> Any:
        """Let the agents do their part until something holds."""

        def asked() -> Any:
            self.turn()
            return holds()

        try:
            return wait_for(asked, timeout, what=what)
        except TimeoutError as error:
            logs = "\n".join(attendant.log for attendant in self.by_pod.values())
            raise TimeoutError(f"{error}; the agents said:\n{logs}") from None

    def turn(self) -> None:
        """Start the agents of new pods, end pods whose agents have ended, and stop the agents of pods that are gone."""
        pods = {pod["metadata"]["uid"]: pod for pod in self.cluster.admin.list("v1", "Pod", self.namespace)}
        for uid, pod in pods.items():
            if uid not in self.by_pod and _is_attended(pod):
                self.by_pod[uid] = self._start(pod)
        for uid, attendant in self.by_pod.items():
            code = attendant.process.poll()
            if uid not in pods:
                attendant.stop()
            elif code is not None and not attendant.reported:
                attendant.reported = True
                try:
                    end(self.cluster, attendant.pod, code)
                except ApiError as error:
                    # The pod was removed meanwhile.
                    if error.status != 404:
                        raise

    def _start(self, pod: Manifest) -> Attendant:
        number = len(self.by_pod)
        folder = self.folder / pod["metadata"]["name"]
        folder.mkdir()
        address = f"127.{os.getpid() % 200 + 20}.{os.getpid() // 200 % 250}.{number + 2}"
        (container,) = pod["spec"]["containers"]
        process = Program(self.cluster, pod, container, folder, address).start()
        return Attendant(pod, address, process, folder, socket.create_server((address, self.port)))


@contextmanager
def attending(cluster: Cluster, namespace: str, folder: Path, port: int) -> Iterator[Attendants]:
    """No agent outlives the block."""
    attendants = Attendants(cluster, namespace, folder, port)
    try:
        yield attendants
    finally:
        for attendant in attendants.by_pod.values():
            attendant.stop()


def _is_attended(pod: Manifest) -> bool:
    running = pod.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    return running and [each["name"] for each in pod["spec"]["containers"]] == [CONTAINER]
