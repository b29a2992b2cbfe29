"""For each kind of custom resource, the module that derives the status."""

from collections.abc import Mapping
from typing import Protocol

from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules import (
    data_cube,
    dataset,
    dataset_task,
    mx_job,
    paddle_job,
    sample_job,
    sample_set,
    training,
    training_job,
)
from stowplan.agents.reporter.rules.conditions import Status


class Rules(Protocol):
    """Module that derives the status of one kind of custom resource."""

    FIELDS: frozenset[str]
    """Names of all status fields that the reporter owns, also of those that are absent at times."""

    def status(self, seen: Observed) -> Status | None:
        """Return all status fields that the reporter owns, without absent ones; None to leave the status unchanged."""
        ...


RULES: Mapping[str, Rules] = {
    "DataCube": data_cube,
    "Dataset": dataset,
    "DatasetTask": dataset_task,
    "MxJob": mx_job,
    "PaddleJob": paddle_job,
    "SampleJob": sample_job,
    "SampleSet": sample_set,
    "Training": training,
    "TrainingJob": training_job,
}
"""Modules by kind, for each kind of `stowplan.schema.kinds.table`."""


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns, without absent ones; None to leave the status unchanged."""
    return RULES[seen.resource.kind.kind].status(seen)


def is_reported(seen: Observed, wanted: Status) -> bool:
    """Return whether the present status already equals `wanted` in all fields that the reporter owns.

    Of the conditions, only those in `wanted` are compared.
    """
    present = seen.resource.status
    for field in RULES[seen.resource.kind.kind].FIELDS - {"conditions"}:
        if present.get(field) != wanted.get(field):
            return False
    present_conditions = {each.get("type"): each for each in present.get("conditions") or ()}
    return all(present_conditions.get(each["type"]) == each for each in wanted.get("conditions") or ())
