"""The helper's container, from the status of the pod in which the await agent runs.

The status of the pod shows a restart better than a connection that is held open would: servers end idle connections by
themselves (gRPC after two minutes, ZeroMQ after half a minute, web servers after one), a server with one thread answers
nobody else meanwhile, and no connection shows an exit code. Servers of Paddle and MXNet end with 0 once the workers say
so, which is no failure although Kubernetes starts them again.
"""

from typing import Any

from stowplan.agents.await_group.helper import Crash
from stowplan.agents.cluster.answers import Manifest


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
