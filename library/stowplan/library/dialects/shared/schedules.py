"""The schedule of a task or transfer."""

from collections.abc import Mapping

from stowplan.library.values import cron, time_zones
from stowplan.schema.diagnostics import FieldPath, Finding, finding, without_effect
from stowplan.schema.meta import RUN_ANNOTATION


def findings(
    schedule: str | None, time_zone: str | None, annotations: Mapping[str, str], *, base: FieldPath = ("spec",)
) -> list[Finding]:
    """Return findings about `schedule` and `timeZone`, and about fields without effect because of them.

    `annotations` are those of the spec, and empty if the run annotation has an effect on it despite the schedule.
    `base` is the path of the mapping with the two fields.
    """
    found = []
    if schedule is not None and (problem := cron.problem(schedule)):
        found.append(finding("SP415", (*base, "schedule"), *problem))
    elif schedule is not None and cron.never(schedule):
        message = f'"{schedule}" names only days that no year has, so the task never runs.'
        found.append(finding("SP418", (*base, "schedule"), message, "Name a day that its months have."))
    if time_zone is not None and (wrong := time_zones.problem(time_zone)):
        found.append(finding("SP204", (*base, "timeZone"), *wrong))
    if schedule is not None and RUN_ANNOTATION in annotations:
        message = "The annotation starts nothing on a task that runs by a schedule."
        path = ("metadata", "annotations", RUN_ANNOTATION)
        found.append(without_effect(path, message))
    if time_zone and schedule is None:
        message = "`timeZone` has no effect without `schedule`."
        found.append(without_effect((*base, "timeZone"), message, "Add a schedule, or remove it."))
    return found
