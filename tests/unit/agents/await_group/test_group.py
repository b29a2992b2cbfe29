"""The decision of await: events in, decision out."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from stowplan.agents.await_group.group import Doomed, Failed, Group, Succeeded, group
from stowplan.agents.await_group.job_state import ABSENT, JobState, Phase

RUNNING = JobState(Phase.RUNNING, "uid", "1")
SUSPENDED = JobState(Phase.SUSPENDED, "uid", "2")
ENDING = JobState(Phase.ENDING, "uid", "3")
COMPLETE = JobState(Phase.COMPLETE, "uid", "4")
FAILED = JobState(Phase.FAILED, "uid", "5", reason="BackoffLimitExceeded")

TIMEOUT = 10.0
OPEN, CLOSED = frozenset({1000}), frozenset[int]()


def given(*states: JobState) -> Group:
    """Return a group with one port and one Job after these events."""
    known = group(["worker"], [1000], TIMEOUT)
    return seen(known, states)


def seen(known: Group, states: Iterable[JobState], name: str = "worker") -> Group:
    for state in states:
        known = known.saw(name, state)
    return known


def closed_for(known: Group, seconds: int) -> Group:
    for _ in range(seconds):
        known = known.probed(CLOSED, 1)
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
    known = group(["master", "worker"], [], TIMEOUT).saw("master", COMPLETE)
    assert known.decide() is None
    assert known.saw("worker", COMPLETE).decide() == Succeeded()
    assert known.saw("worker", FAILED).decide() == Failed("worker", "BackoffLimitExceeded")


def test_running_jobs_of_a_failed_group_are_named() -> None:
    known = group(["ended", "ending", "failed", "running"], [], TIMEOUT)
    known = known.saw("ended", COMPLETE).saw("running", RUNNING).saw("failed", FAILED)
    known = known.saw("ending", replace(RUNNING, deadline_seconds=1))
    assert known.decide() == Failed("failed", "BackoffLimitExceeded", ("running",))


def test_a_port_closed_for_too_long_ends_the_jobs_at_the_judged_version() -> None:
    known = closed_for(given(RUNNING), 10)
    assert known.decide() is None
    assert known.probed(CLOSED, 1).decide() == Doomed((1000,), {"worker": RUNNING})


def test_a_port_counts_from_when_it_was_last_open() -> None:
    known = closed_for(closed_for(given(RUNNING), 10).probed(OPEN, 1), 10)
    assert known.decide() is None
    assert isinstance(known.probed(CLOSED, 1).decide(), Doomed)


def test_a_port_that_opens_late_saves_the_jobs() -> None:
    assert closed_for(given(RUNNING), 20).probed(OPEN, 1).decide() is None


def test_each_port_counts() -> None:
    known = group(["worker"], [1000, 2000], TIMEOUT).saw("worker", RUNNING)
    for _ in range(11):
        known = known.probed(frozenset({1000}), 1)
    assert known.decide() == Doomed((2000,), {"worker": RUNNING})


def test_time_does_not_count_while_a_job_is_suspended_and_begins_anew_after() -> None:
    known = closed_for(seen(closed_for(given(RUNNING), 9), [SUSPENDED]), 100)
    assert known.decide() is None
    known = closed_for(seen(known, [RUNNING]), 10)
    assert known.decide() is None
    assert isinstance(closed_for(known, 1).decide(), Doomed)


def test_a_job_that_is_suspended_late_is_left_alone() -> None:
    assert closed_for(given(RUNNING), 20).saw("worker", SUSPENDED).decide() is None


def test_time_does_not_count_before_the_server_has_listed_every_job() -> None:
    known = group(["master", "worker"], [1000], TIMEOUT).saw("master", RUNNING)
    assert closed_for(closed_for(known, 20).saw("worker", RUNNING), 1).decide() is None


def test_a_job_created_late_is_ended_too() -> None:
    known = closed_for(given(ABSENT), 20)
    assert known.decide() is None
    assert known.saw("worker", RUNNING).decide() == Doomed((1000,), {"worker": RUNNING})


@pytest.mark.parametrize("state", [ENDING, JobState(Phase.RUNNING, "uid", "9", deadline_seconds=1)])
def test_a_job_that_is_about_to_end_is_left_alone(state: JobState) -> None:
    assert closed_for(given(RUNNING, state), 20).decide() is None


def test_another_deadline_is_replaced() -> None:
    state = JobState(Phase.RUNNING, "uid", "9", deadline_seconds=3600)
    assert closed_for(given(state), 20).decide() == Doomed((1000,), {"worker": state})


def test_only_jobs_that_run_are_doomed() -> None:
    known = group(["done", "here", "later"], [1000], TIMEOUT)
    known = closed_for(known.saw("done", COMPLETE).saw("here", RUNNING).saw("later", ABSENT), 20)
    assert known.decide() == Doomed((1000,), {"here": RUNNING})


@pytest.mark.parametrize(("outcome", "decision"), [(COMPLETE, Succeeded), (FAILED, Failed)])
def test_an_outcome_comes_before_a_closed_port(outcome: JobState, decision: type) -> None:
    assert isinstance(closed_for(given(RUNNING, outcome), 20).decide(), decision)
