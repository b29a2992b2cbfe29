"""The decision of await: events in, decision out."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from stowplan.agents.await_group.group import Doomed, Failed, Group, Serves, Succeeded
from stowplan.agents.await_group.helper import Crash, Helper
from stowplan.agents.await_group.job_state import ABSENT, UNKNOWN, JobState, Phase

START = "2026-03-01T10:00:00Z"
RUNNING = JobState(Phase.RUNNING, "uid", "1", start=START)
SUSPENDED = JobState(Phase.SUSPENDED, "uid", "2")
ENDING = JobState(Phase.ENDING, "uid", "3")
COMPLETE = JobState(Phase.COMPLETE, "uid", "4")
FAILED = JobState(Phase.FAILED, "uid", "5", reason="BackoffLimitExceeded")

TIMEOUT = 10.0
OPEN, CLOSED = frozenset({1000}), frozenset[int]()


def watched(*ports: int, must_listen: bool = False, replaceable: bool = False) -> Helper:
    return Helper("job-ps-0-new", "main", TIMEOUT, must_listen, replaceable, dict.fromkeys(ports, 0.0))


def group(jobs: Sequence[str], helper: Helper) -> Group:
    """Return the group at the start: nothing is known about the Jobs."""
    return Group(dict.fromkeys(jobs, UNKNOWN), helper)


def given(*states: JobState) -> Group:
    """Return a group with one Job after these events. Its helper, with one port, must listen."""
    return seen(group(["worker"], watched(1000, must_listen=True)), states)


def at(second: int) -> str:
    return f"2026-03-01T10:{second // 60:02}:{second % 60:02}Z"


def doom(known: Group) -> str:
    """Return why the Jobs must be ended; empty if they need not."""
    decision = known.decide()
    return decision.reason if isinstance(decision, Doomed) else ""


def undecided(known: Group) -> bool:
    return known.decide() is None or isinstance(known.decide(), Serves)


def seen(known: Group, states: Iterable[JobState], name: str = "worker") -> Group:
    for state in states:
        known = known.saw(name, state)
    return known


def closed_for(known: Group, seconds: int) -> Group:
    for _ in range(seconds):
        known = known.probed(CLOSED, 1, START)
    return known


@pytest.mark.parametrize("states", [(), (ABSENT,), (RUNNING,), (SUSPENDED,), (ENDING,), (ABSENT, ABSENT, RUNNING)])
def test_waits_until_the_outcome_is_certain(states: tuple[JobState, ...]) -> None:
    assert given(*states).decide() is None


@pytest.mark.parametrize("states", [(COMPLETE,), (ABSENT, RUNNING, ENDING, COMPLETE), (COMPLETE, ABSENT)])
def test_succeeds_with_the_job(states: tuple[JobState, ...]) -> None:
    assert given(*states).decide() == Succeeded()


def test_fails_with_the_job() -> None:
    assert given(RUNNING, FAILED).decide() == Failed("worker", "BackoffLimitExceeded")


@pytest.mark.parametrize("last", [ABSENT, JobState(Phase.RUNNING, "another")])
@pytest.mark.parametrize("before", [RUNNING, SUSPENDED, ENDING])
def test_fails_with_a_deleted_or_replaced_job(before: JobState, last: JobState) -> None:
    assert isinstance(given(before, last).decide(), Failed)


def test_an_outcome_is_final() -> None:
    assert given(FAILED, JobState(Phase.RUNNING, "another")).decide() == Failed("worker", "BackoffLimitExceeded")


def test_all_jobs_must_be_complete_and_one_failure_is_enough() -> None:
    known = group(["master", "worker"], watched()).saw("master", COMPLETE)
    assert known.decide() is None
    assert known.saw("worker", COMPLETE).decide() == Succeeded()
    assert known.saw("worker", FAILED).decide() == Failed("worker", "BackoffLimitExceeded")


def test_running_jobs_of_a_failed_group_are_named() -> None:
    known = group(["ended", "ending", "failed", "running"], watched())
    known = known.saw("ended", COMPLETE).saw("running", RUNNING).saw("failed", FAILED)
    known = known.saw("ending", replace(RUNNING, deadline_seconds=1))
    assert known.decide() == Failed("failed", "BackoffLimitExceeded", ("running",))


def test_a_port_closed_for_too_long_ends_the_jobs_at_the_judged_version() -> None:
    known = closed_for(given(RUNNING), 10)
    assert known.decide() is None
    assert known.probed(CLOSED, 1, START).decide() == Doomed(
        "port 1000 of pod job-ps-0-new was closed for more than 10 seconds", {"worker": RUNNING}
    )


def test_a_port_counts_from_when_it_was_last_open() -> None:
    known = closed_for(closed_for(given(RUNNING), 10).probed(OPEN, 1, START), 10)
    assert undecided(known)
    assert isinstance(known.probed(CLOSED, 1, START).decide(), Doomed)


def test_a_port_that_opens_late_saves_the_jobs() -> None:
    assert undecided(closed_for(given(RUNNING), 20).probed(OPEN, 1, START))


def test_each_port_counts() -> None:
    known = group(["worker"], watched(1000, 2000, must_listen=True)).saw("worker", RUNNING)
    for _ in range(11):
        known = known.probed(frozenset({1000}), 1, START)
    assert known.decide() == Doomed(
        "port 2000 of pod job-ps-0-new was closed for more than 10 seconds", {"worker": RUNNING}
    )


def test_time_does_not_count_while_a_job_is_suspended_and_begins_anew_after() -> None:
    known = closed_for(seen(closed_for(given(RUNNING), 9), [SUSPENDED]), 100)
    assert known.decide() is None
    known = closed_for(seen(known, [RUNNING]), 10)
    assert known.decide() is None
    assert isinstance(closed_for(known, 1).decide(), Doomed)


def test_a_job_that_is_suspended_late_is_left_alone() -> None:
    assert closed_for(given(RUNNING), 20).saw("worker", SUSPENDED).decide() is None


def test_time_does_not_count_before_the_server_has_listed_every_job() -> None:
    known = group(["master", "worker"], watched(1000, must_listen=True)).saw("master", RUNNING)
    assert closed_for(closed_for(known, 20).saw("worker", RUNNING), 1).decide() is None


def test_a_job_created_late_is_ended_too() -> None:
    known = closed_for(given(ABSENT), 20)
    assert known.decide() is None
    assert known.saw("worker", RUNNING).decide() == Doomed(
        "port 1000 of pod job-ps-0-new was closed for more than 10 seconds", {"worker": RUNNING}
    )


@pytest.mark.parametrize("state", [ENDING, JobState(Phase.RUNNING, "uid", "9", deadline_seconds=1)])
def test_a_job_that_is_about_to_end_is_left_alone(state: JobState) -> None:
    assert closed_for(given(RUNNING, state), 20).decide() is None


def test_another_deadline_is_replaced() -> None:
    state = JobState(Phase.RUNNING, "uid", "9", deadline_seconds=3600)
    assert closed_for(given(state), 20).decide() == Doomed(
        "port 1000 of pod job-ps-0-new was closed for more than 10 seconds", {"worker": state}
    )


def test_only_jobs_that_run_are_doomed() -> None:
    known = group(["done", "here", "later"], watched(1000, must_listen=True))
    known = closed_for(known.saw("done", COMPLETE).saw("here", RUNNING).saw("later", ABSENT), 20)
    assert known.decide() == Doomed(
        "port 1000 of pod job-ps-0-new was closed for more than 10 seconds", {"here": RUNNING}
    )


@pytest.mark.parametrize(("outcome", "decision"), [(COMPLETE, Succeeded), (FAILED, Failed)])
def test_an_outcome_comes_before_a_closed_port(outcome: JobState, decision: type) -> None:
    assert isinstance(closed_for(given(RUNNING, outcome), 20).decide(), decision)


def test_a_server_that_never_listens_fails_nothing() -> None:
    """A web server in place of a parameter server, as in the quick start of paddle-operator."""
    known = closed_for(seen(group(["worker"], watched(1000)), [RUNNING]), 100_000)
    assert known.decide() is None
    assert known.saw("worker", COMPLETE).decide() == Succeeded()


def test_a_server_may_listen_late_and_counts_from_then_on() -> None:
    """Ten minutes to load, or a port that opens after the last worker has come."""
    known = closed_for(seen(group(["worker"], watched(1000)), [RUNNING]), 600).probed(OPEN, 1, at(600))
    assert undecided(closed_for(known, 10))
    assert doom(closed_for(known, 11)) == "port 1000 of pod job-ps-0-new was closed for more than 10 seconds"


def test_a_port_that_was_open_while_the_job_was_suspended_counts_once_it_runs() -> None:
    known = seen(group(["worker"], watched(1000)), [RUNNING, SUSPENDED]).probed(OPEN, 1, at(1))
    assert doom(closed_for(known.saw("worker", RUNNING), 11))


LISTENING = seen(group(["worker"], watched(1000)), [RUNNING]).probed(OPEN, 1, at(10))


def test_a_server_that_crashes_after_it_listened_fails_the_group_at_once() -> None:
    """Its port is open again after a second, but what it held is lost."""
    assert doom(LISTENING.crashed(Crash(at(20), 137, 1))) == (
        "container main of pod job-ps-0-new ended with exit code 137, and what it held is lost (started again 1 times)"
    )


@pytest.mark.parametrize("second", [0, 5, 9])
def test_a_server_that_crashes_before_it_listens_fails_nothing(second: int) -> None:
    crash = Crash(at(second), 1, 7)
    never = closed_for(seen(group(["worker"], watched(1000)), [RUNNING]), 100).crashed(crash)
    assert never.decide() is None
    assert undecided(LISTENING.crashed(crash))


def test_a_server_that_crashes_before_it_listens_fails_the_group_where_it_must_listen() -> None:
    assert doom(closed_for(given(RUNNING), 11).crashed(Crash(at(5), 1, 7))).startswith("port 1000 ")


def test_a_server_without_a_known_port_fails_the_group_whenever_it_crashes() -> None:
    known = seen(group(["worker"], watched()), [RUNNING])
    assert doom(known.crashed(Crash(at(0), 1, 1)))
    assert undecided(known.crashed(None))


def test_a_crash_from_before_the_workers_started_or_were_resumed_counts_as_nothing() -> None:
    resumed = replace(RUNNING, start=at(60))
    for known in (LISTENING, seen(group(["worker"], watched()), [RUNNING])):
        crashed = known.saw("worker", SUSPENDED).crashed(Crash(at(30), 1, 1))
        assert undecided(crashed)
        assert undecided(crashed.saw("worker", resumed))


def test_a_server_that_may_be_replaced_fails_nothing_when_it_crashes() -> None:
    known = seen(group(["worker"], watched(1000, replaceable=True)), [RUNNING]).probed(OPEN, 1, at(10))
    assert undecided(known.crashed(Crash(at(20), 137, 1)))


KEY = "helpers.stowplan.dev/job-ps-0"


def noted(pod: str, start: str = START) -> JobState:
    return replace(RUNNING, helpers={KEY: f"{start} {pod}"})


def test_a_server_that_has_begun_is_noted_on_the_first_job() -> None:
    assert LISTENING.decide() == Serves("worker", KEY, f"{START} job-ps-0-new")
    assert LISTENING.saw("worker", noted("job-ps-0-new")).decide() is None
    assert group(["worker"], watched(1000)).saw("worker", RUNNING).decide() is None
    assert LISTENING.saw("worker", replace(RUNNING, start="")).decide() is None


def test_a_server_that_replaces_one_that_has_begun_fails_the_group() -> None:
    """The first one was lost with its node, or deleted."""
    assert doom(seen(group(["worker"], watched(1000)), [noted("job-ps-0-old")])) == (
        "pod job-ps-0-old is gone, and what it held is lost; pod job-ps-0-new has replaced it"
    )


def test_a_server_that_replaces_one_from_before_a_suspension_is_noted_anew() -> None:
    known = LISTENING.saw("worker", noted("job-ps-0-old", start=at(1)))
    assert known.decide() == Serves("worker", KEY, f"{START} job-ps-0-new")


def test_a_server_that_may_be_replaced_is_noted_anew() -> None:
    known = group(["worker"], watched(1000, replaceable=True)).saw("worker", noted("job-ps-0-old"))
    assert known.decide() is None
    assert known.probed(OPEN, 1, at(1)).decide() == Serves("worker", KEY, f"{START} job-ps-0-new")
