"""The rules of each kind."""

from collections.abc import Mapping

from stowplan.agents.reporter.observed import Observed
from stowplan.agents.reporter.rules import data_cube, mx_job, paddle_job, sample_job, sample_set, training_job
from stowplan.agents.reporter.rules.conditions import Status
from stowplan.agents.reporter.rules.mx_job import Winner

FIELDS: Mapping[str, frozenset[str]] = {
    "DataCube": data_cube.FIELDS,
    "MxJob": mx_job.FIELDS,
    "PaddleJob": paddle_job.FIELDS,
    "SampleJob": sample_job.FIELDS,
    "SampleSet": sample_set.FIELDS,
    "TrainingJob": training_job.FIELDS,
}
"""Fields of each kind's status that are the reporter's, whether or not they are there."""


def status(seen: Observed, mxnet: Winner) -> Status | None:
    """What the status should say; None where it is to stay as it is. `mxnet` names whose success is an MxJob's."""
    match seen.resource.kind.kind:
        case "MxJob":
            return mx_job.status(seen, mxnet)
        case "TrainingJob":
            return training_job.status(seen)
        case "PaddleJob":
            return paddle_job.status(seen)
        case "SampleJob":
            return sample_job.status(seen)
        case "DataCube":
            return data_cube.status(seen)
        case _:
            return sample_set.status(seen)


def is_told(seen: Observed, wanted: Status) -> bool:
    """Whether the present status says all of that, and nothing else in the reporter's fields."""
    present = seen.resource.status
    kind = seen.resource.kind.kind
    for field in FIELDS[kind] - {"conditions"}:
        if present.get(field) != wanted.get(field):
            return False
    told = {each.get("type"): each for each in present.get("conditions") or ()}
    return all(told.get(each["type"]) == each for each in wanted.get("conditions") or ())
