"""Every phase and state that the text of a training job's CRD names can be reached, and no other one."""

import re
from typing import Any

import pytest

from stowplan.schema.kinds.mx_job import MxJobStatus, MxReplicaStatus
from stowplan.schema.kinds.native.training_status import TrainingStatus
from stowplan.schema.kinds.paddle_job import PaddleJobStatus
from stowplan.schema.kinds.training_job_status import ResourceStatus, TrainingJobStatus
from stowplan.schema.meta import Model
from tests.unit.agents.reporter.given import Manifest, complete, ended, failed, job, pending, pod, report, resource

_LISTED = re.compile(r"((?:`\w+`(?:, | or )?)+)")


def documented(model: type[Model], field: str) -> set[str]:
    """Return the words of the first list in a field's description."""
    found = _LISTED.match(model.model_fields[field].description or "")
    assert found
    return set(re.findall(r"`(\w+)`", found[0]))


MX = resource("MxJob", {"jobMode": "dist", "replicaSpecs": [{"mxReplicaType": r} for r in ("SCHEDULER", "WORKER")]})
PADDLE = resource("PaddleJob", {"worker": {"replicas": 1}})
OLD = resource("TrainingJob", {"trainer": {"min-instance": 1}})


def mx(*, scheduler: Manifest | None = None, worker: Manifest | None = None, **status: Any) -> Any:
    first, second = job("MxJob", "scheduler", status=scheduler), job("MxJob", "worker", status=worker)
    return report("MxJob", MX, first, second, pod(first, **status), pod(second, **status))


MX_ENDS = (
    report("MxJob", MX),
    mx(**pending()),
    mx(),
    mx(scheduler=complete(9), worker=complete(9), **ended(0)),
    mx(worker=failed(9), **ended(1)),
)


def paddle(status: Manifest | None = None, *, with_pod: bool = True, **pods: Any) -> Any:
    work = job("PaddleJob", "worker", status=status)
    return report("PaddleJob", PADDLE, work, *([pod(work, **pods)] if with_pod else []))


STARTING = pending() | {"phase": "Running"}
PADDLE_ENDS = (
    paddle(with_pod=False),
    paddle(**pending()),
    paddle(**STARTING),
    paddle(),
    paddle(complete(9), **ended(0)),
    paddle(failed(9), **ended(1)),
)


def old(status: Manifest | None = None, *, given: Manifest = OLD, **pods: Any) -> Any:
    work = job("TrainingJob", "trainer", status=status)
    return report("TrainingJob", given, work, pod(work, **pods))


def scaling() -> Any:
    """Two trainers ran, and a third is wanted."""
    spec = {"fault_tolerant": True, "trainer": {"min-instance": 1, "max-instance": 4}}
    small = job("TrainingJob", "trainer", 1)
    before = report("TrainingJob", resource("TrainingJob", spec), small, pod(small))
    large = job("TrainingJob", "trainer", 2)
    return report("TrainingJob", resource("TrainingJob", spec, before), large, pod(large))


OLD_ENDS = (
    old(**pending()),
    old(),
    scaling(),
    old(complete(9), **ended(0)),
    old(failed(9), **ended(1)),
    old(failed(9, "DeadlineExceeded"), **ended(143)),
)


NATIVE = resource("Training", {"numNodes": 1})


def native(
    status: Manifest | None = None, *, given: Manifest = NATIVE, suspend: bool = False, init: Any = None, **pods: Any
) -> Any:
    work = job("Training", "node", status=status, suspend=suspend)
    if init:
        pods["initContainerStatuses"] = [{"name": init, "ready": False, "restartCount": 0, "state": {"running": {}}}]
    return report("Training", given, work, pod(work, **pods))


NATIVE_ENDS = (
    native(**pending()),
    native(init="wait-peers", **pending()),
    native(**STARTING),
    native(),
    native(given=resource("Training", {}, native()), **pending()),
    native(complete(9), **ended(0)),
    native(failed(9), **ended(1)),
    native(given=resource("Training", {"suspend": True}), suspend=True),
)


def words(statuses: tuple[Any, ...], field: str, part: str = "") -> set[str]:
    parts = [each for status in statuses for each in (status.get(part, ()) if part else [status])]
    return {each[field] for each in parts if each.get(field)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (documented(MxJobStatus, "phase"), words(MX_ENDS, "phase")),
        (documented(MxJobStatus, "state"), words(MX_ENDS, "state")),
        (documented(MxReplicaStatus, "state"), words(MX_ENDS, "state", "replicaStatuses")),
        (documented(PaddleJobStatus, "phase"), words(PADDLE_ENDS, "phase")),
        (documented(TrainingJobStatus, "phase"), words(OLD_ENDS, "phase")),
        (documented(TrainingStatus, "phase"), words(NATIVE_ENDS, "phase")),
        (documented(ResourceStatus, "state"), words(OLD_ENDS, "state", "replica_statuses")),
    ],
    ids=[
        "MxJob phase",
        "MxJob state",
        "MxJob role",
        "PaddleJob phase",
        "TrainingJob phase",
        "Training phase",
        "TrainingJob role",
    ],
)
def test_words_of_the_text_are_those_that_are_written(text: set[str], found: set[str]) -> None:
    assert text == found
