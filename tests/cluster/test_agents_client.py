"""The agents' thin client on a real API server."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.answers import Refused, Unreachable, WatchEvent
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import ObjectAddress, job
from tests.cluster.client import wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.deciders import HASH, Deciders
from tests.cluster.processes import free_port

T = TypeVar("T")
Call = Callable[[Client], Awaitable[T]]
END = {"spec": {"activeDeadlineSeconds": 1}}


@pytest.fixture(scope="module")
def deciders(cluster: Cluster) -> Iterator[Deciders]:
    """Two Jobs, of which the account may see one."""
    group = Deciders(cluster, cluster.namespace("agents-client"))
    group.account()
    group.grant(["worker"])
    for stem in ("worker", "other"):
        group.make(stem)
    yield group
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": group.namespace}})


@pytest.fixture
def access(deciders: Deciders, tmp_path: Path) -> Access:
    """What the account has."""
    (tmp_path / "token").write_text(deciders.token(), encoding="ascii")
    trust = deciders.cluster.trust
    access = Access(trust.server, tmp_path / "token", trust.authority.certificate)
    wait_for(lambda: not isinstance(call(access, lambda it: it.get(worker(deciders))), Refused), what="the binding")
    return access


def call(access: Access, what: Call[T]) -> T:
    """One use of a client."""

    async def calling() -> T:
        async with Client(access, "stowplan-test") as client:
            return await what(client)

    return asyncio.run(calling())


def worker(deciders: Deciders) -> ObjectAddress:
    return job(deciders.namespace, f"worker-{HASH}")


async def first(client: Client, place: ObjectAddress, version: str | None) -> object:
    """The first item of a watch."""
    return await anext(client.watch(place.collection, place.selector, version))


def status(answer: object) -> int:
    assert isinstance(answer, Refused), answer
    return answer.status


def test_get(deciders: Deciders, access: Access) -> None:
    answer = call(access, lambda it: it.get(worker(deciders)))
    assert isinstance(answer, dict)
    assert answer["metadata"]["name"] == f"worker-{HASH}"


def test_watch_begins_with_the_object_or_at_its_version(deciders: Deciders, access: Access) -> None:
    event = call(access, lambda it: first(it, worker(deciders), None))
    assert isinstance(event, WatchEvent)
    assert (event.type, event.object["metadata"]["name"]) == ("ADDED", f"worker-{HASH}")
    version = event.object["metadata"]["resourceVersion"]
    deciders.cluster.admin.patch(deciders.job(), {"metadata": {"labels": {"seen": version}}})
    event = call(access, lambda it: first(it, worker(deciders), version))
    assert isinstance(event, WatchEvent)
    assert (event.type, event.object["metadata"]["labels"]["seen"]) == ("MODIFIED", version)


def test_change_of_a_version_that_is_no_more_is_a_conflict(deciders: Deciders, access: Access) -> None:
    place = worker(deciders)
    before = call(access, lambda it: it.get(place))
    assert isinstance(before, dict)
    version = {"metadata": {"resourceVersion": before["metadata"]["resourceVersion"]}}
    deciders.cluster.admin.patch(deciders.job(), {"metadata": {"labels": {"changed": "yes"}}})
    assert status(call(access, lambda it: it.merge_patch(place, version | END, "test"))) == 409
    assert deciders.deadline() is None


def test_rights_end_at_the_names_of_the_role(deciders: Deciders, access: Access) -> None:
    other, gone = (job(deciders.namespace, f"{stem}-{HASH}") for stem in ("other", "gone"))
    for place in (other, gone):
        assert status(call(access, lambda it, place=place: it.get(place))) == 403  # type: ignore[misc]
        assert status(call(access, lambda it, place=place: first(it, place, None))) == 403  # type: ignore[misc]
        assert status(call(access, lambda it, place=place: it.merge_patch(place, END, "test"))) == 403  # type: ignore[misc]


def test_object_that_is_not_there(deciders: Deciders, access: Access) -> None:
    deciders.grant(["worker", "missing"])
    place = job(deciders.namespace, f"missing-{HASH}")
    wait_for(lambda: status(call(access, lambda it: it.get(place))) == 404, what="the right to see that it is not")


def test_caller_whom_the_server_does_not_know(deciders: Deciders, access: Access) -> None:
    access.token_file.write_text("unknown", encoding="ascii")
    assert status(call(access, lambda it: it.get(worker(deciders)))) == 401


def test_server_that_is_no_server(deciders: Deciders, access: Access) -> None:
    nobody = Access(f"https://127.0.0.1:{free_port()}", access.token_file, access.authorities)
    assert isinstance(call(nobody, lambda it: it.get(worker(deciders))), Unreachable)
    assert isinstance(call(nobody, lambda it: first(it, worker(deciders), None)), Unreachable)


def test_token_that_cannot_be_read_may_come_back(deciders: Deciders, access: Access) -> None:
    access.token_file.unlink()
    assert isinstance(call(access, lambda it: it.get(worker(deciders))), Unreachable)
