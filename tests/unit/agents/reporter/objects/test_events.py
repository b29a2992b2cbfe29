"""Events about objects that cannot begin, as far as they still hold."""

from typing import Any

import pytest

from stowplan.agents.reporter.objects import events
from stowplan.agents.reporter.objects.cache import ObjectCache
from stowplan.agents.reporter.objects.events import Event, event, of_pod, of_workload
from tests.unit.agents.reporter.given import Manifest, time

POD = ("Pod", "u")


def given(reason: str = "FailedMount", message: str = "no driver", minute: int = 5, count: int = 1) -> Event:
    return Event(POD, reason, message, time(minute), again=count > 1)


def written(uid: str, minute: int, **fields: Any) -> Manifest:
    return {
        "metadata": {"name": f"e-{uid}", "uid": f"e-{uid}"},
        "involvedObject": {"kind": "Pod", "uid": uid, "name": "it"},
        "reason": "FailedMount",
        "message": "no\n driver ",
        "lastTimestamp": time(minute),
        "count": 1,
        **fields,
    }


def test_event_of_the_kubelet() -> None:
    assert event(written("u", 5)) == given()
    assert event(written("u", 5, count=2)) == given(count=2)


def test_event_with_a_series() -> None:
    series = {"count": 3, "lastObservedTime": "2026-03-01T10:07:00.123456Z"}
    found = event(written("u", 5, lastTimestamp=None, count=None, eventTime="2026-03-01T10:05:00.5Z", series=series))
    assert found == given(minute=7, count=3)
    found = event(written("u", 5, lastTimestamp=None, count=None, eventTime="2026-03-01T10:05:00.5Z"))
    assert found == given()


def test_event_about_nothing() -> None:
    assert event(written("u", 5, involvedObject={"kind": "Pod"})) is None


@pytest.mark.parametrize(
    ("reason", "placed", "holds"),
    [
        ("FailedMount", True, True),
        ("FailedAttachVolume", True, True),
        ("FailedScheduling", False, True),
        # A node was found since.
        ("FailedScheduling", True, False),
        ("FailedCreate", True, False),
    ],
)
def test_event_of_a_pod_holds_until_the_pod_is_further(reason: str, *, placed: bool, holds: bool) -> None:
    found = of_pod([given(reason)], placed=placed)
    assert (found is not None) is holds


def test_what_the_driver_says_comes_before_what_the_kubelet_sums_up() -> None:
    generic = given(message="Unable to attach or mount volumes: timed out", minute=9)
    assert of_pod([given(), generic], placed=True) == given()
    assert of_pod([generic], placed=True) == generic


def test_events_with_other_words_mean_that_it_happened_again() -> None:
    """The pod that cannot be created has another name each time."""
    older = given(message="no driver for pod x", minute=1)
    assert of_pod([older, given()], placed=True) == given(count=2)
    creations = [given("FailedCreate", "pod a"), given("FailedCreate", "pod b", minute=9)]
    assert of_workload(creations, missing=True, created=[]) == given("FailedCreate", "pod b", minute=9, count=2)
    assert of_workload(creations, missing=True, created=[time(8)]) == creations[1]


@pytest.mark.parametrize(
    ("missing", "created", "holds"),
    [(True, [], True), (True, [time(5)], True), (True, [time(3), time(6)], False), (False, [], False)],
)
def test_event_of_a_controller_holds_until_it_creates_a_pod(created: list[str], *, missing: bool, holds: bool) -> None:
    assert (of_workload([given("FailedCreate")], missing=missing, created=created) is not None) is holds


@pytest.mark.parametrize(
    ("found", "lasting"),
    [
        (given(), False),
        (given(count=2), True),
        (given("FailedScheduling", count=9), False),
        (given("FailedCreate", count=2), True),
        (given("FailedCreate", "forbidden: exceeded quota: a", count=9), False),
    ],
)
def test_what_needs_a_person_happened_again(found: Event, *, lasting: bool) -> None:
    assert found.lasting is lasting


def test_of_many_events_the_newest_are_kept() -> None:
    heard: list[tuple[str, str]] = []
    cache = ObjectCache(events.event, heard.append, most=3, age=lambda each: each.at)
    cache.begin()
    for minute in (9, 1, 8, 2, 7, 3):
        cache.put(written(str(minute), minute))
    cache.end()
    assert [bool(cache.of(("Pod", str(minute)))) for minute in (9, 8, 7, 3, 2, 1)] == [True] * 3 + [False] * 3
    cache.put(written("10", 10))
    assert not cache.of(("Pod", "7"))
