"""What the await agent knows about the helper in its pod, and whether the group must end because of it.

The status of the pod shows a restart better than a connection that is held open would: servers end idle connections by
themselves (gRPC after two minutes, ZeroMQ after half a minute, web servers after one), a server with one thread answers
nobody else meanwhile, and no connection shows an exit code. Servers of Paddle and MXNet end with 0 once the workers say
so, which is no failure although Kubernetes starts them again.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from stowplan.agents.cluster.answers import Manifest


@dataclass(frozen=True, slots=True)
class Crash:
    """The last end of the helper's container with an error; the kubelet starts the container again."""

    at: str
    """Time of the end (RFC 3339)."""
    code: int
    """Exit code, never 0."""
    restarts: int
    """Restarts of the container so far."""


@dataclass(frozen=True, slots=True)
class Helper:
    """State of the helper: its ports and its container."""

    pod: str
    """Name of the pod."""
    container: str
    """Name of the helper's container; empty if it is not watched."""
    timeout: float
    """Maximum seconds for which a port may be closed."""
    must_listen: bool
    """Whether a port counts as closed before it was first open."""
    replaceable: bool
    """Whether the group goes on with a helper that was started again or replaced."""
    closed: Mapping[int, float]
    """For each port, the seconds for which it has been closed; 0 while it is open, and see `probed`."""
    opened: Mapping[int, str] = field(default_factory=dict)
    """For each port that was open at some time, when it was first seen open (RFC 3339)."""
    crash: Crash | None = None

    @property
    def serves(self) -> bool:
        """Whether the helper has begun to serve: a port of it was open once, or its ports are not known."""
        return bool(self.opened) or not self.closed

    def probed(self, opened: Set[int], elapsed: float, now: str, *, paused: bool) -> "Helper":
        """Return the helper after a probe that found the ports `opened` open, `elapsed` seconds after the last probe.

        `now` is the time of the probe (RFC 3339). While the clock is paused, no port counts as closed. A port that was
        never open counts as closed only if the helper must listen: it may load for hours, or listen elsewhere.
        """
        known = {**dict.fromkeys(opened, now), **self.opened}
        closed = {
            port: 0.0 if paused or port in opened or not (self.must_listen or port in known) else past + elapsed
            for port, past in self.closed.items()
        }
        return replace(self, closed=closed, opened=known)

    def fault(self, since: str) -> str:
        """Return why deciding Jobs that run since the time `since` (RFC 3339) must be ended; empty if they need not."""
        return self._crashed(since) or self._silent()

    def replaced(self, before: str) -> str:
        """Return why the deciding Jobs must be ended if the pod `before` (empty: none) served them; empty if not."""
        if self.replaceable or before in ("", self.pod):
            return ""
        return f"pod {before} is gone, and what it held is lost; pod {self.pod} has replaced it"

    def _crashed(self, since: str) -> str:
        """Return the message about a crash after the helper began to serve; empty if there was none.

        Times are compared by second, as the kubelet writes them. The clock is that of the same cluster node.
        """
        if self.replaceable or self.crash is None or not self.serves or not since:
            return ""
        if self.crash.at < max(since, min(self.opened.values(), default=since)):
            return ""
        end = f"container {self.container} of pod {self.pod} ended with exit code {self.crash.code}"
        return f"{end}, and what it held is lost (started again {self.crash.restarts} times)"

    def _silent(self) -> str:
        ports = sorted(port for port, seconds in self.closed.items() if seconds > self.timeout)
        named = ", ".join(map(str, ports))
        return f"port {named} of pod {self.pod} was closed for more than {self.timeout:g} seconds" if ports else ""


def crash_of(pod: Manifest, container: str) -> Crash | None:
    """Return the last end with an error of a container of this pod; None if there is none.

    A container that ended with an error and then with 0 has no crash, since a status has only the last end.
    """
    status = pod.get("status") or {}
    lists = ("initContainerStatuses", "containerStatuses")
    found = [each for name in lists for each in status.get(name) or () if each.get("name") == container]
    for each in found:
        for state in ("state", "lastState"):
            ended: dict[str, Any] | None = (each.get(state) or {}).get("terminated")
            if ended and ended.get("exitCode"):
                return Crash(
                    str(ended.get("finishedAt") or ""), int(ended["exitCode"]), int(each.get("restartCount") or 0)
                )
    return None


def ordinal_name(pod: str) -> str:
    """Return the part of a pod's name that its replacement has too: `<Job>-<index>` of `<Job>-<index>-<random>`."""
    return pod.rpartition("-")[0]
