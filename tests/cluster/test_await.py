"""The await agent as a process, with a real token, only the rights of its Role, and real Jobs.

What it decides, and when, is told by `tests/unit/agents/await_group`; here is what it learns from a server and does.
"""

import itertools
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.agents.await_process import POD_IP, AwaitProcess, await_agent
from tests.agents.relay import Relay, relay
from tests.cluster.client import wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.deciders import HELPER, Deciders
from tests.cluster.processes import free_port

NUMBERS = itertools.count()
Start = Callable[..., AbstractContextManager[AwaitProcess]]

RUNNING, ABSENT = "Job is running", "Job is absent"
CLOSED, OPEN = "A port of a helper is closed", "A port of a helper is open"


@pytest.fixture
def deciders(cluster: Cluster) -> Iterator[Deciders]:
    """A namespace of the test's own, with the account and its rights."""
    group = Deciders(cluster, cluster.namespace(f"await-{next(NUMBERS)}"))
    group.account()
    group.grant()
    yield group
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": group.namespace}})


@pytest.fixture
def start(deciders: Deciders, tmp_path: Path) -> Start:
    """Starts the agent of the group."""

    def starting(*, server: str = "", token: str = "", name: str = "agent", pod: str = HELPER, **config: Any) -> Any:
        settings = {"namespace": deciders.namespace, "jobs": ["worker"], "ports": [], **config}
        trust = deciders.cluster.trust
        return await_agent(
            tmp_path / name,
            server or trust.server,
            settings,
            token=token or deciders.token(),
            authorities=trust.authority.certificate,
            pod=pod,
        )

    return starting


def listening(port: int) -> socket.socket:
    return socket.create_server((POD_IP, port))


def last(agent: AwaitProcess) -> dict[str, Any]:
    return agent.events()[-1]


def test_ends_what_still_runs_of_a_failed_group(deciders: Deciders, start: Start) -> None:
    deciders.grant(["scheduler", "worker"])
    deciders.make("scheduler", pods=1)
    deciders.make()
    with start(jobs=["scheduler", "worker"]) as agent:
        wait_for(agent.said(RUNNING))
        deciders.end(exit_code=1)
        assert agent.exit_code() == 1
        assert any(each.get("reason", "").startswith("BackoffLimitExceeded: ") for each in agent.events())
    assert deciders.failure("scheduler") == "DeadlineExceeded"


def test_fails_with_a_job_that_is_deleted(deciders: Deciders, start: Start) -> None:
    deciders.make()
    with start() as agent:
        wait_for(agent.said(RUNNING))
        deciders.delete()
        assert agent.exit_code() == 1
        assert last(agent)["reason"] == "it was deleted"


def test_waits_for_a_job_that_is_not_there_yet(deciders: Deciders, start: Start) -> None:
    with start() as agent:
        wait_for(agent.said(ABSENT))
        deciders.make()
        wait_for(agent.said(RUNNING))
        deciders.end()
        assert agent.exit_code() == 0


def test_waits_for_all_jobs(deciders: Deciders, start: Start) -> None:
    deciders.grant(["master", "worker"])
    deciders.make("master", pods=1)
    deciders.make()
    with start(jobs=["master", "worker"]) as agent:
        wait_for(agent.said(RUNNING, 2))
        deciders.end("master")
        wait_for(agent.said("Job is complete"))
        deciders.delete("master")
        deciders.end()
        assert agent.exit_code() == 0


def test_port_that_never_opens(deciders: Deciders, start: Start) -> None:
    """Where helpers must listen, the Job fails."""
    deciders.make()
    with start(ports=[free_port()], helperTimeoutSeconds=2, mustListen=True) as agent:
        assert deciders.failure() == "DeadlineExceeded"
        assert agent.exit_code() == 1
        assert last(agent)["reason"].startswith("DeadlineExceeded: ")
    (owned,) = _owned_by_await(deciders)
    assert owned["f:spec"] == {"f:activeDeadlineSeconds": {}}
    assert set(owned["f:metadata"]["f:annotations"]) - {"."} == {"f:stowplan.dev/ended-because"}
    assert "was closed for more than 2 seconds" in deciders.notes()["stowplan.dev/ended-because"]


def _owned_by_await(deciders: Deciders) -> list[dict[str, Any]]:
    fields = deciders.cluster.admin.get(deciders.job())["metadata"]["managedFields"]
    return [each["fieldsV1"] for each in fields if each["manager"] == "stowplan-await"]


def test_port_that_closes_for_good(deciders: Deciders, start: Start) -> None:
    deciders.make()
    port = free_port()
    with start(ports=[port], helperTimeoutSeconds=3) as agent:
        with listening(port):
            wait_for(deciders.notes)
        assert deciders.failure() == "DeadlineExceeded"
        assert agent.exit_code() == 1


def test_server_that_crashes_after_it_listened(deciders: Deciders, start: Start) -> None:
    """Its port is open again at once, but the group cannot go on with it."""
    deciders.make()
    helper, port = deciders.helper(), free_port()
    with listening(port), start(ports=[port], container="main") as agent:
        wait_for(deciders.notes)
        deciders.crash(helper, 137)
        assert deciders.failure() == "DeadlineExceeded"
        assert agent.exit_code() == 1
    assert "ended with exit code 137" in deciders.notes()["stowplan.dev/ended-because"]


def test_server_that_is_lost_with_its_node(deciders: Deciders, start: Start) -> None:
    """The pod that replaces it knows that it does, and ends the group."""
    deciders.make()
    port = free_port()
    with listening(port):
        with start(ports=[port]):
            wait_for(deciders.notes)
        assert [value.split()[1] for value in deciders.notes().values()] == [HELPER]
        with start(name="second", pod="group-ps-abcdefgh-0-new", ports=[port]) as agent:
            assert deciders.failure() == "DeadlineExceeded"
            assert agent.exit_code() == 1
    assert f"pod {HELPER} is gone" in deciders.notes()["stowplan.dev/ended-because"]


def test_job_that_was_suspended_behind_its_back_is_left_alone(deciders: Deciders, start: Start) -> None:
    """What it last saw is a Job that runs; the server refuses a change of that version. Later, time begins to count."""
    deciders.make()
    with (
        relay(deciders.cluster.trust.server) as way,
        start(server=way.url, ports=[free_port()], helperTimeoutSeconds=2, mustListen=True) as agent,
    ):
        wait_for(agent.said(RUNNING))
        way.stop()
        deciders.suspend(suspended=True)
        wait_for(agent.said("Cannot change a deciding Job"))
        way.start()
        wait_for(agent.said("Job is suspended"))
        assert deciders.deadline() is None
        deciders.suspend(suspended=False)
        assert deciders.failure() == "DeadlineExceeded"
        assert agent.exit_code() == 1


def test_server_that_is_away(deciders: Deciders, start: Start) -> None:
    """From before the start, and again while the Job ends."""
    deciders.make()
    with relay(deciders.cluster.trust.server) as way:
        way.stop()
        with start(server=way.url) as agent:
            wait_for(agent.said("Cannot read a deciding Job", 2))
            way.start()
            wait_for(agent.said(RUNNING))
            way.stop()
            wait_for(agent.said("Cannot read a deciding Job", 4))
            deciders.end()
            way.start()
            assert agent.exit_code() == 0


def test_watch_that_is_cut(deciders: Deciders, start: Start) -> None:
    deciders.make()
    with relay(deciders.cluster.trust.server) as way, start(server=way.url) as agent:
        wait_for(agent.said(RUNNING))
        way.cut()
        deciders.delete()
        assert agent.exit_code() == 1


def test_token_that_is_renewed(deciders: Deciders, start: Start) -> None:
    deciders.make()
    old, new = deciders.token("old"), deciders.token("new")
    with relay(deciders.cluster.trust.server) as way, start(server=way.url, token=old) as agent:
        wait_for(agent.said(RUNNING))
        deciders.revoke("old")
        wait_for(lambda: _is_refused(way, agent))
        agent.write_token(new)
        deciders.end()
        assert agent.exit_code() == 0
        assert not any(token in (agent.folder / "log").read_text(encoding="utf-8") for token in (old, new))


def _is_refused(way: Relay, agent: AwaitProcess) -> bool:
    """The server remembers tokens for ten seconds."""
    way.cut()
    return any("401" in event.get("error", "") for event in agent.events())


def test_right_that_comes_late(deciders: Deciders, start: Start) -> None:
    deciders.grant(["other"])
    deciders.make()
    with start() as agent:
        wait_for(agent.said("Cannot read a deciding Job"))
        deciders.grant()
        deciders.end()
        assert agent.exit_code() == 0


def test_right_that_is_missing(deciders: Deciders, start: Start) -> None:
    """To read one Job, and to change another."""
    deciders.grant(["worker"], ["get", "watch"])
    deciders.make()
    with (
        start(name="blind", jobs=["other"]) as blind,
        start(name="weak", ports=[free_port()], helperTimeoutSeconds=1, mustListen=True) as weak,
    ):
        # Both are patient for 30 seconds.
        assert [blind.exit_code(120), weak.exit_code(120)] == [3, 3]
        assert "get and watch on jobs.batch" in last(blind)["needs"]
        assert "patch on jobs.batch" in last(weak)["needs"]
        assert "is forbidden" in last(weak)["error"]


@pytest.mark.parametrize("away", [False, True])
def test_sigterm(deciders: Deciders, start: Start, away: bool) -> None:  # noqa: FBT001 - a parameter
    """Neither 0 nor 1, whether the server answers or not: the outcome does not stand."""
    deciders.make()
    server = f"https://127.0.0.1:{free_port()}" if away else ""
    with start(server=server, ports=[free_port()]) as agent:
        wait_for(agent.said("Cannot read a deciding Job" if away else RUNNING))
        agent.process.send_signal(signal.SIGTERM)
        assert agent.exit_code(timeout=10) == 143
