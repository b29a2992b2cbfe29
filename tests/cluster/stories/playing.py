"""All pods of a namespace: agents run as real processes, users' pods follow the story.

KWOK plays the nodes. A pod of a Job is held until its process, or the story, gives an exit code.
"""

import itertools
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stowplan.agents.reporter.objects.workloads import PEERS
from tests.cluster.attendants import EXIT_CODE, HOLD, end
from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster
from tests.cluster.pod_programs import Program

INITIALIZING = "kwok.stowplan.dev/initializing"
AGENT = re.compile(r"/stowplan-\w+[:@]")
AWAIT = "await"
GRACE = 20
"""Seconds that a process has to end."""

_ADDRESSES = itertools.count(1)


@dataclass
class Agent:
    """The process of one container."""

    pod: Manifest
    container: str
    program: Program
    process: "subprocess.Popen[str]"
    listening: list[socket.socket] = field(default_factory=list)
    reported: bool = False

    @property
    def log(self) -> str:
        return self.program.log.read_text(encoding="utf-8")

    def stop(self) -> None:
        """As the kubelet: SIGTERM, and in the end SIGKILL."""
        while self.listening:
            self.listening.pop().close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass
class Playing:
    """Nothing moves but in `turn`."""

    cluster: Cluster
    namespace: str
    folder: Path
    claims: dict[str, Path] = field(default_factory=dict)
    """Folders that stand for claims."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of all processes beside those of their containers."""
    paused: set[str] = field(default_factory=set)
    """Containers whose processes are not started for now."""
    agents: dict[tuple[str, str], Agent] = field(default_factory=dict)
    """By uid of the pod and name of the container."""
    names: set[str] = field(default_factory=set)
    """Of all pods that there were."""

    def turn(self) -> None:
        """Start what is to start, pass on exit codes, and stop the processes of pods that are gone."""
        pods = {pod["metadata"]["uid"]: pod for pod in self.cluster.admin.list("v1", "Pod", self.namespace)}
        self.names |= {pod["metadata"]["name"] for pod in pods.values()}
        for pod in pods.values():
            for container in _due(pod):
                self._start(pod, container)
        for (uid, _), agent in list(self.agents.items()):
            if uid not in pods:
                agent.stop()
            elif not agent.reported and (code := agent.process.poll()) is not None:
                agent.reported = True
                self._pass_on(agent, code)

    def _start(self, pod: Manifest, container: Mapping[str, Any]) -> None:
        key = (pod["metadata"]["uid"], container["name"])
        if key in self.agents or container["name"] in self.paused:
            return
        number = next(_ADDRESSES)
        address = f"127.{os.getpid() % 200 + 20}.{os.getpid() // 200 % 250}.{number % 250 + 2}"
        folder = self.folder / f"{pod['metadata']['name']}-{container['name']}"
        folder.mkdir()
        program = Program(self.cluster, pod, container, folder, address, self.claims, self.environment)
        agent = Agent(pod, container["name"], program, program.start())
        self.agents[key] = agent
        if container["name"] == AWAIT:
            # As the helper beside.
            agent.listening = [socket.create_server((address, port)) for port in program.config["ports"]]

    def _pass_on(self, agent: Agent, code: int) -> None:
        policy = agent.pod["spec"]["restartPolicy"]
        assert policy == "Never", f"{agent.container} ended with {code}: {agent.log}"
        if agent.container in {each["name"] for each in agent.pod["spec"]["containers"]}:
            end(self.cluster, agent.pod, code)
        elif code == 0:
            self.cluster.admin.patch(agent.pod, {"metadata": {"annotations": {INITIALIZING: None}}})
        else:
            self.cluster.admin.patch(agent.pod, {"status": _never_began(agent, code)}, subresource="status")

    def restart(self, container: str) -> None:
        """Kill the processes of containers with this name, and start them again as the kubelet does."""
        for agent in self.of(container):
            agent.process.kill()
            agent.process.wait()
            agent.process = agent.program.start()

    def of(self, container: str) -> list[Agent]:
        """The processes of containers with this name, in the order of their starts."""
        return [agent for (_, name), agent in self.agents.items() if name == container]

    def said(self) -> str:
        """What the agents said, for a report on a failed test."""
        return "\n".join(f"{agent.program.folder.name}:\n{agent.log[-3000:]}" for agent in self.agents.values())


@contextmanager
def playing(cluster: Cluster, namespace: str, folder: Path, **how: Any) -> Iterator[Playing]:
    """No process outlives the block."""
    played = Playing(cluster, namespace, folder, **how)
    folder.mkdir()
    try:
        yield played
    finally:
        for agent in played.agents.values():
            agent.stop()


def held(value: Any) -> Any:
    """With the annotations on all templates of pods that let them wait for us."""
    if isinstance(value, list):
        return [held(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: held(each) for key, each in value.items()}
    spec = found.get("spec")
    if isinstance(spec, dict) and "containers" in spec:
        begins = {INITIALIZING: "true"} if _initializers(spec) else {}
        metadata = found.get("metadata", {})
        annotations = {**metadata.get("annotations", {}), HOLD: "true", **begins}
        found["metadata"] = {**metadata, "annotations": annotations}
    return found


def _due(pod: Manifest) -> list[Mapping[str, Any]]:
    """The containers of agents that should run."""
    spec, status = pod["spec"], pod.get("status", {})
    if "deletionTimestamp" in pod["metadata"]:
        return []
    if INITIALIZING in pod["metadata"].get("annotations", {}):
        return _initializers(spec) if status.get("startTime") else []
    if status.get("phase") != "Running" or EXIT_CODE in pod["metadata"].get("annotations", {}):
        return []
    return [each for each in spec["containers"] if AGENT.search(each["image"])]


def _initializers(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """But for the wait for peers: these pods have no addresses."""
    own = [each for each in spec.get("initContainers", ()) if AGENT.search(each["image"]) and each["name"] != PEERS]
    return [each for each in own if each.get("restartPolicy") != "Always"]


def _never_began(agent: Agent, code: int) -> Manifest:
    """The status of a pod whose init container failed."""
    now = agent.pod["status"]["startTime"]
    ended = {"exitCode": code, "reason": "Error", "startedAt": now, "finishedAt": now}
    states = [
        {**each, "state": {"terminated": ended}} if each["name"] == agent.container else each
        for each in agent.pod["status"]["initContainerStatuses"]
    ]
    return {"phase": "Failed", "initContainerStatuses": states}
