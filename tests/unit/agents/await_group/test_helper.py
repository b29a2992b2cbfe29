"""What the status of a pod tells about the helper in it."""

from typing import Any

import pytest

from stowplan.agents.await_group.helper import Crash, crash_of, ordinal_name

AT = "2026-03-01T10:00:00Z"


def ended(code: int) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "finishedAt": AT}}


RUNNING: dict[str, Any] = {"running": {"startedAt": AT}}


@pytest.mark.parametrize(
    ("state", "last", "crash"),
    [
        (RUNNING, {}, None),
        (RUNNING, ended(0), None),
        (RUNNING, ended(137), Crash(AT, 137, 2)),
        (ended(1), {}, Crash(AT, 1, 2)),
        (ended(0), ended(1), Crash(AT, 1, 2)),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, ended(139), Crash(AT, 139, 2)),
    ],
)
@pytest.mark.parametrize("where", ["initContainerStatuses", "containerStatuses"])
def test_only_an_end_with_an_error_is_a_crash(
    state: dict[str, Any], last: dict[str, Any], crash: Crash | None, where: str
) -> None:
    own = {"name": "main", "restartCount": 2, "state": state, "lastState": last}
    other = {"name": "logs", "restartCount": 9, "state": ended(1)}
    assert crash_of({"status": {where: [other, own]}}, "main") == crash


@pytest.mark.parametrize("pod", [{}, {"status": {}}, {"status": {"initContainerStatuses": [{"name": "main"}]}}])
def test_a_pod_without_a_status_has_no_crash(pod: dict[str, Any]) -> None:
    assert crash_of(pod, "main") is None


def test_a_pod_and_its_replacement_share_a_name_without_its_random_end() -> None:
    assert ordinal_name("ctr-paddlejob-ps-abcdefgh-0-x7k2p") == "ctr-paddlejob-ps-abcdefgh-0"
