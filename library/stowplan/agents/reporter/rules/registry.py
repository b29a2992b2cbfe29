"""The rules of each kind."""

from collections.abc import Mapping
from typing import Protocol

from stowplan.agents.reporter.observed import Observed
from stowplan.agents.reporter.rules import data_cube, mx_job, paddle_job, sample_job, sample_set, training_job
from stowplan.agents.reporter.rules.conditions import Status


class Rules(Protocol):
    """The module with the rules of one kind."""

    FIELDS: frozenset[str]
    """Fields of the status that the reporter owns, present or not."""

    def status(self, seen: Observed) -> Status | None:
        """The fields that the reporter owns, without those that are absent; None to leave the status as it is."""
        ...


RULES: Mapping[str, Rules] = {
    "DataCube": data_cube,
    "MxJob": mx_job,
    "PaddleJob": paddle_job,
    "SampleJob": sample_job,
    "SampleSet": sample_set,
    "TrainingJob": training_job,
}
"""Rules for each kind of `stowplan.schema.kinds.table`."""


def status(seen: Observed) -> Status | None:
    """Return the fields that the reporter owns; None to leave the status unchanged."""
    return RULES[seen.resource.kind.kind].status(seen)


def is_told(seen: Observed, wanted: Status) -> bool:
    """Return whether the present status already equals `wanted` in all fields that the reporter owns."""
    present = seen.resource.status
    for field in RULES[seen.resource.kind.kind].FIELDS - {"conditions"}:
        if present.get(field) != wanted.get(field):
            return False
    told = {each.get("type"): each for each in present.get("conditions") or ()}
    return all(told.get(each["type"]) == each for each in wanted.get("conditions") or ())
