"""Each group on the engine where `tests/launcher` does not form it, and more pods that start late."""

from itertools import product
from pathlib import Path

import pytest

from tests.launcher import machine, name_server, test_launcher, test_legacy
from tests.launcher.jobs import job, training_job
from tests.launcher.test_start import CACHED, Late, assert_waited_for

pytestmark = [
    pytest.mark.skipif(
        machine.namespace_command() is None, reason="no mount namespaces here: neither root nor user namespaces"
    ),
    pytest.mark.skipif(not name_server.can_serve(), reason="only root may listen on the port of DNS"),
]

LATE = [
    Late("collective-2.3", "worker-0", 4, CACHED),
    Late("ps-gloo-workers", "ps-1", 20),
    Late("heter", "worker-1", 4),
]


@pytest.mark.parametrize(
    ("name", "engine"), sorted({*product(test_launcher.GROUPS, test_launcher.ENGINES)} - {*test_launcher.HERE})
)
def test_forms_a_group(name: str, engine: str, tmp_path: Path) -> None:
    mode, spec = test_launcher.GROUPS[name]
    test_launcher.assert_formed(tmp_path, job(tmp_path / "repo", mode, spec, engine=engine))


@pytest.mark.parametrize(
    ("name", "engine"), sorted({*product(test_legacy.GROUPS, test_legacy.ENGINES)} - {*test_legacy.HERE})
)
def test_forms_a_group_of_a_training_job(name: str, engine: str, tmp_path: Path) -> None:
    programs, spec = test_legacy.GROUPS[name]
    test_legacy.assert_trained(tmp_path, training_job(tmp_path / "repo", programs, spec, engine=engine))


@pytest.mark.parametrize("late", LATE, ids=lambda late: f"{late.group}-{late.pod}")
def test_one_pod_starts_late(late: Late, tmp_path: Path) -> None:
    assert_waited_for(tmp_path, late)
