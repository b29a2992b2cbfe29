"""Common fixtures of all tests."""

import os

import pytest

pytest_plugins = ["tests.agents.plugin", "tests.cluster.plugin"]


if service := os.environ.pop("CI", None):
    os.environ["STOWPLAN_TESTS_CI"] = service
"""Commands that tests run are not run by a CI service, even if the tests are. Tests about that set the variable `CI`.
Fixtures that skip where a program is missing, but fail in CI, look at the other one."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """What `-n auto` means: one more than there are cores, since most of the time tests wait for other programs."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None
