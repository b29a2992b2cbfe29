"""Common fixtures of all tests."""

import os
from collections.abc import Iterator
from functools import cache

import pytest
import typer.testing
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from tests.tier import TIER

# Hypothesis fails a test that takes long, as any does on a busy machine. Its inputs are random on request alone.
settings.register_profile(
    "tests", deadline=None, derandomize=TIER != "on-request", suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]
"""Commands that tests run in their own process share the parser of the command line, which takes a while to build."""


@pytest.fixture(scope="session", autouse=True)
def _node() -> Iterator[None]:
    from tests.one_node import one_node  # noqa: PLC0415 - collecting tests needs no compiler

    with one_node():
        yield


NODES = ("tests/nightly/node/stories/", "tests/nightly/node/")
"""The tests of each of these folders wait for each other, since a process has one place with nodes at a time.

A folder within another one comes before it.
"""


class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Runs the tests of a file in one process, since they share what takes long to make, such as a synced cluster.

    Those of each folder of `NODES` are in one process too.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((folder for folder in NODES if nodeid.startswith(folder)), super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of nodes are first, since they take longest and hardly need the processor."""

    def rank(item: pytest.Item) -> int:
        return next((rank for rank, folder in enumerate(NODES) if item.nodeid.startswith(folder)), len(NODES))

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """What `-n auto` means: three more than there are cores, for tests that wait for other programs most of the time.

    `-n logical` is a process for each core.
    """
    if config.option.numprocesses == "logical" or "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return len(os.sched_getaffinity(0)) + 3 if hasattr(os, "sched_getaffinity") else None
