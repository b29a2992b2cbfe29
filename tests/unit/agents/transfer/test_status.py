"""The status that a sync by the transfer agent writes into its dataset or SampleJob."""

from typing import Any

import pytest

from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.network.retry import Attempts
from stowplan.agents.transfer.status import DatasetStatus
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.kinds.native.dataset import DatasetStatus as NativeStatus
from stowplan.schema.kinds.native.dataset_task import DatasetTaskStatus
from stowplan.schema.kinds.sample_job import SampleJobStatus
from stowplan.schema.kinds.sample_set_status import SampleSetStatus
from stowplan.schema.meta import Model

STATUS: dict[str, type[Model]] = {
    "Dataset": NativeStatus,
    "SampleSet": SampleSetStatus,
    "SampleJob": SampleJobStatus,
    "DatasetTask": DatasetTaskStatus,
}


def fields(kind: str, code: int | None, *, phase: bool = True) -> dict[str, Any]:
    outcome = AttemptOutcome("coco-sync-a", "coco-sync-a-x")
    if code is not None:
        outcome.end(code, "Denied" if code else "Succeeded", "what happened")
    return DatasetStatus(kind, "sync", outcome, phase=phase).fields()


@pytest.mark.parametrize(
    ("kind", "code", "phase"),
    [
        ("Dataset", None, "Syncing"),
        ("Dataset", 0, "Ready"),
        ("Dataset", 3, "SyncFailed"),
        ("SampleSet", None, "Syncing"),
        ("SampleSet", 0, "Ready"),
        ("SampleSet", 3, "SyncFailed"),
        ("SampleJob", None, "Running"),
        ("SampleJob", 0, "Succeeded"),
        ("SampleJob", 3, "Failed"),
        ("DatasetTask", None, "Running"),
        ("DatasetTask", 0, "Succeeded"),
        ("DatasetTask", 3, "Failed"),
    ],
)
def test_phases(kind: str, code: int | None, phase: str) -> None:
    status = fields(kind, code)
    assert status["phase"] == phase
    (entry,) = status["attempts"]
    state = {None: "running", 0: "succeeded", 3: "failed"}[code]
    assert (entry["task"], entry["partition"], entry["state"], entry.get("exitCode")) == ("sync", 0, state, code)
    held = {each["type"] for each in status["conditions"] if each["status"] == "True"}
    assert held == {"Ready": {"Synced", "Ready"}, "Succeeded": {"Complete"}, "Failed": {"Failed"}}.get(phase, set())


def test_requests_that_fail_are_told_until_one_succeeds_or_the_attempt_ends() -> None:
    outcome = AttemptOutcome("coco-sync-a", "coco-sync-a-x")
    work = TransferWork(outcome, Stop(), Log(), Redactor(("hidden",)), 1)
    status = DatasetStatus("Dataset", "sync", outcome, phase=True)

    def told() -> tuple[str, str, set[str]]:
        (entry,) = status.fields()["attempts"]
        return entry["reason"], entry["message"], {each["reason"] for each in status.fields()["conditions"]}

    calls = iter([AttemptError(ExitCode.TRANSIENT, "RequestFailed", "GET hidden: refused"), None])

    def call() -> None:
        assert told() == ("Running", "Under way", {"Running"})
        if failure := next(calls):
            raise failure

    class Sleeps(Stop):
        def sleep(self, seconds: float) -> None:
            assert seconds > 0
            assert told() == ("RequestFailed", "GET [redacted]: refused", {"RequestFailed"})
            work.tell(None)

    Attempts(1, Sleeps(), work.log, of_any, work.tell).run("it", call)
    work.tell(AttemptError(ExitCode.TRANSIENT, "RequestFailed", "refused"))
    outcome.end(0, "Succeeded", "done")
    assert told() == ("Succeeded", "done", {"Succeeded"})


@pytest.mark.parametrize("kind", STATUS)
@pytest.mark.parametrize("code", [None, 0, 12])
def test_fields_fit_the_model_of_the_kind(kind: str, code: int | None) -> None:
    """Fields that the report itself adds are excluded."""
    status = fields(kind, code)
    for condition in status["conditions"]:
        condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    STATUS[kind].model_validate(status)


@pytest.mark.parametrize("kind", STATUS)
def test_with_a_reporter_only_the_own_entry_is_written(kind: str) -> None:
    assert set(fields(kind, 0, phase=False)) == {"attempts"}


@pytest.mark.parametrize("kind", ["Dataset", "SampleSet"])
def test_a_dataset_shows_the_revision_that_was_copied_but_not_one_that_is_being_copied(kind: str) -> None:
    outcome = AttemptOutcome("coco-sync-a", "coco-sync-a-x")
    outcome.revision = "abc"
    status = DatasetStatus(kind, "sync", outcome, phase=False)
    assert "revision" not in status.fields()
    outcome.end(0, "Succeeded", "what happened")
    assert status.fields()["revision"] == "abc"


def test_counts_of_a_job() -> None:
    assert fields("SampleJob", None)["counts"] == {"total": 1, "running": 1, "succeeded": 0, "failed": 0}
    assert fields("SampleJob", 5)["counts"] == {"total": 1, "running": 0, "succeeded": 0, "failed": 1}


def test_a_copy_has_an_entry_and_a_field_manager_of_its_own() -> None:
    said = DatasetStatus("DatasetTask", "copy", AttemptOutcome("run", "pod"), phase=False)
    assert (said.fields()["attempts"][0]["task"], said.manager) == ("copy", "stowplan-copy-0")
