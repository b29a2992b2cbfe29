"""The life of one pod on a node that runs Podman: the kubelet's steps from its binding to its end."""

import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.agents.podman import Podman
from tests.cluster.client import ApiError, Client, Manifest
from tests.cluster.podman_pod import ADDRESS, PodmanPod
from tests.cluster.processes import Processes

LOOK_SECONDS = 0.5
PROBE_SECONDS = 2
"""Pods have longer periods."""
_CONDITIONS = ("Initialized", "ContainersReady", "Ready")

SERVE = ("python3", "-c", "import time; time.sleep(3600)")
"""What a container without a command runs, in place of the program of its image, such as a web server."""


@dataclass
class PodLife:
    """A pod at work."""

    made: PodmanPod
    processes: Processes
    podman: Podman
    image: Callable[[str], str]
    """The image that stands for one of this name."""
    stop: threading.Event
    """Set when the node ends."""
    codes: dict[str, int] = field(default_factory=dict)
    """Exit codes of containers that have ended."""
    started: dict[str, str] = field(default_factory=dict)
    """When containers began."""
    _told: Manifest = field(default_factory=dict)

    def live(self) -> None:
        spec = self.made.spec
        for container in spec.get("initContainers", ()):
            self._start(container)
            if container.get("restartPolicy") == "Always":
                continue
            self._await(container["name"])
            if self._gone or self.codes[container["name"]]:
                self._finish("Failed")
                return
        for container in spec["containers"]:
            self._start(container)
        names = [each["name"] for each in spec["containers"]]
        while not self._gone:
            self._reap()
            if all(name in self.codes for name in names):
                failed = any(self.codes[name] for name in names)
                stays = ("Never",) if failed else ("Never", "OnFailure")
                assert spec["restartPolicy"] in stays, f"it has ended with {self.codes}"
                self._finish("Failed" if failed else "Succeeded")
                return
            self._tell("Running", ready=self._is_ready())
            self.stop.wait(PROBE_SECONDS)
        self.end()

    def end(self) -> None:
        """Ends what runs, and takes the pod away if that is asked."""
        self._reap()
        for process in self.processes.running:
            if process.popen.poll() is None:
                grace = self.made.spec.get("terminationGracePeriodSeconds", 30)
                self._podman("stop", f"--time={grace}", self._id(process.name))
                process.popen.wait(grace)
        self._reap()
        self.processes.stop()
        if self._is_deleted():
            # Controllers look at what a pod ended with also where they have deleted it.
            if self.codes:
                self._tell("Failed" if any(self.codes.values()) else "Succeeded", ready=False)
            body = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
            self._admin.request("DELETE", self._admin.path(self.made.pod), body)

    def _start(self, container: Mapping[str, Any]) -> None:
        name = container["name"]
        words = [*container.get("command", SERVE), *container.get("args", ())]
        options = ["--rm", f"--name={self._id(name)}", *self.made.arguments(container)]
        command = self.podman.command(
            "run", *options, "--entrypoint", words[0], self.image(container["image"]), *words[1:]
        )
        self.started[name] = now()
        self.processes.start(Path("/usr/bin/env"), command, name=name)

    def _await(self, name: str) -> None:
        while name not in self.codes and not self._gone:
            self._reap()
            self._tell("Pending", ready=False)
            self.stop.wait(LOOK_SECONDS)

    def _reap(self) -> None:
        for process in self.processes.running:
            code = process.popen.poll()
            if code is not None:
                self.codes.setdefault(process.name, code)

    def _finish(self, phase: str) -> None:
        """Ends sidecars, tells the end, and stays until the pod is deleted."""
        for process in self.processes.running:
            if process.popen.poll() is None:
                self._podman("stop", "--time=10", self._id(process.name))
                process.popen.wait(30)
        self._reap()
        self._tell(phase, ready=False)
        while not self._gone:
            self.stop.wait(LOOK_SECONDS)

    def _is_ready(self) -> bool:
        return all(self._probe(each) for each in self.made.spec["containers"])

    def _probe(self, container: Mapping[str, Any]) -> bool:
        probe = container.get("readinessProbe")
        return probe is None or not self._podman("exec", self._id(container["name"]), *probe["exec"]["command"])

    def _podman(self, *words: str) -> int:
        command = ["/usr/bin/env", *self.podman.command(*words)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    def _id(self, container: str) -> str:
        return f"{self.made.pod['metadata']['uid']}-{container}"

    @property
    def _admin(self) -> Client:
        return self.made.cluster.admin

    @property
    def _gone(self) -> bool:
        return self.stop.is_set() or self._is_deleted()

    def _is_deleted(self) -> bool:
        live = self._admin.find(self.made.pod)
        return live is not None and "deletionTimestamp" in live["metadata"]

    def _tell(self, phase: str, *, ready: bool) -> None:
        """Writes the pod's status where it has changed."""
        spec = self.made.spec
        begun = phase != "Pending"
        conditions = {"Initialized": begun, "ContainersReady": ready, "Ready": ready}
        status = {
            "phase": phase,
            "podIP": ADDRESS,
            "podIPs": [{"ip": ADDRESS}],
            "conditions": [{"type": name, "status": str(conditions[name])} for name in _CONDITIONS],
            "initContainerStatuses": [self._container(each, ready=ready) for each in spec.get("initContainers", ())],
            "containerStatuses": [self._container(each, ready=ready) for each in spec["containers"]],
        }
        if status == self._told:
            return
        self._told = status
        try:
            self._admin.patch(self.made.pod, {"status": status}, subresource="status")
        except ApiError as error:
            if error.reason != "NotFound":
                raise

    def _container(self, container: Mapping[str, Any], *, ready: bool) -> Manifest:
        name = container["name"]
        state: Manifest
        if name in self.codes:
            text = self.made.last_words(name).read_text(encoding="utf-8")
            ended = {"exitCode": self.codes[name], "startedAt": self.started[name], "message": text}
            state = {"terminated": {**ended, "reason": "Error" if self.codes[name] else "Completed"}}
        elif name in self.started:
            state = {"running": {"startedAt": self.started[name]}}
        else:
            state = {"waiting": {"reason": "PodInitializing"}}
        runs = "running" in state
        told = {"name": name, "image": container["image"], "imageID": "", "restartCount": 0}
        return {**told, "ready": runs and ready, "started": runs, "state": state}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
