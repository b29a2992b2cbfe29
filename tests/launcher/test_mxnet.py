"""MxJobs form: servers and workers find the scheduler by their compiled variables, and all end together."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.launcher import machine
from tests.launcher.jobs import PATIENCE, mx_job_of
from tests.launcher.kubelet import pods, resolved
from tests.launcher.test_launcher import assert_formed

pytestmark = pytest.mark.skipif(
    machine.namespace_command() is None, reason="no mount namespaces here: neither root nor user namespaces"
)

NOBODY = "nobody listens at"
ENGINES = ["core", "jobset"]
SIZES = {"SCHEDULER": 1, "SERVER": 2, "WORKER": 3}


@pytest.mark.parametrize("engine", ENGINES)
def test_all_register_and_end(engine: str, tmp_path: Path) -> None:
    assert_formed(tmp_path, mx_job_of(tmp_path / "repo", "dist", SIZES, engine=engine))


def test_all_register_on_the_network_of_nodes_and_at_another_port(tmp_path: Path) -> None:
    assert_formed(tmp_path, mx_job_of(tmp_path / "repo", "dist", SIZES, port=9000, host=True))


def test_a_local_job_looks_for_nobody(tmp_path: Path) -> None:
    assert_formed(tmp_path, mx_job_of(tmp_path / "repo", "local", {"WORKER": 1}))


@dataclass(frozen=True)
class Wrong:
    """One pod with other variables than were compiled, and which pod says what then."""

    pod: str
    change: Mapping[str, str]
    says: str
    reason: str

    @property
    def title(self) -> str:
        return f"{self.pod}-{'-'.join(self.change)}"


WRONG = [
    Wrong("worker-1", {"DMLC_PS_ROOT_PORT": "9092"}, "worker-1", NOBODY),
    Wrong("server-1", {"DMLC_PS_ROOT_URI": "localhost"}, "server-1", NOBODY),
    Wrong("scheduler-0", {"DMLC_PS_ROOT_URI": "127.0.0.1"}, "scheduler-0", "not this pod"),
    Wrong("scheduler-0", {"DMLC_PS_ROOT_URI": "localhost"}, "scheduler-0", "bind failed"),
    Wrong("scheduler-0", {"DMLC_NUM_WORKER": "4"}, "scheduler-0", "there came"),
    Wrong("server-1", {"DMLC_NUM_WORKER": "4"}, "server-1", "served less than 4"),
    Wrong("worker-1", {"DMLC_ROLE": "trainer"}, "worker-1", "unknown role"),
    Wrong("worker-1", {"DMLC_ROLE": "server"}, "scheduler-0", "not {'server': 2, 'worker': 3}"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.title}-{wrong.reason.split()[0]}")
def test_no_group_with_a_wrong_variable(wrong: Wrong, tmp_path: Path) -> None:
    # With five seconds all others register before the one that waits for more gives up.
    patience = {NOBODY: 1.0, "there came": 5.0, "served less than 4": 5.0}.get(wrong.reason, PATIENCE)
    result = mx_job_of(tmp_path / "repo", "dist", SIZES, patience=patience)
    found = pods(result)
    names = {**machine.placed(resolved(result, found)), "localhost": machine.new_address()}
    with machine.running(tmp_path / "run", found, names, {wrong.pod: wrong.change}) as group:
        assert group.code(wrong.says) == 1
        assert wrong.reason in group.said(wrong.says)


def test_no_group_without_a_service(tmp_path: Path) -> None:
    """The scheduler listens on its own address; servers and workers look for its name in vain."""
    sizes = {"SCHEDULER": 1, "SERVER": 1, "WORKER": 1}
    result = mx_job_of(tmp_path / "repo", "dist", sizes, patience=2)
    with machine.running(tmp_path / "run", pods(result), {}) as group:
        assert group.code("scheduler-0") == 1
        assert "there came []" in group.said("scheduler-0")
