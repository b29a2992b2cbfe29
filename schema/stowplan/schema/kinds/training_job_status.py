"""The status of a `TrainingJob`, as it is reported."""

from pydantic import Field

from stowplan.schema.kinds.conditions import Conditions, Run
from stowplan.schema.meta import Model


class ScaleRecord(Model):
    """One change of the number of trainers."""

    scale_timestamp: str | None = Field(default=None, description="Time of the change, RFC 3339.")
    additional: int | None = Field(default=None, description="Number of added trainers; negative for removed ones.")
    status: str | None = Field(default=None, description="`True`, `False` or `Unknown`: whether the change was made.")
    reason: str | None = Field(default=None, description="Reason of the change.")


class ScaleRecords(Model):
    """All changes of the number of trainers."""

    scale_records: list[ScaleRecord] | None = Field(
        default=None, alias="ScaleRecords", description="The changes, oldest first."
    )


class ResourceStatus(Model):
    """The pods of one role."""

    training_resource_type: str | None = Field(
        default=None, alias="training_resource_type", description="`master`, `pserver` or `trainer`."
    )
    state: str | None = Field(default=None, description="`starting`, `running`, `failed` or `succeeded`.")
    resource_states: dict[str, int] | None = Field(
        default=None, alias="resource_states", description="Number of pods, by state."
    )


class TrainingJobStatus(Model):
    """What was observed of the job."""

    phase: str | None = Field(
        default=None, description="`Creating`, `Running`, `Scaling`, `Succeed`, `Failed` or `Timeout`."
    )
    reason: str | None = Field(default=None, description="Why the phase is what it is.")
    trainers: str | None = Field(default=None, description="Trainers that run and that are wanted, such as `2/6`.")
    pservers: str | None = Field(default=None, description="Parameter servers that run and that are wanted.")
    fulfillment: str | None = Field(
        default=None, description="Present size of the job between its minimum and maximum, such as `50%`."
    )
    scale_records: ScaleRecords | None = Field(
        default=None, alias="scale_records", description="Changes of the number of trainers."
    )
    replica_statuses: list[ResourceStatus] | None = Field(
        default=None, alias="replica_statuses", description="One entry for each role."
    )
    start_time: str | None = Field(default=None, description="When all pods ran for the first time, RFC 3339.")
    released: bool | None = Field(default=None, description="Whether the pods are gone.")
    run: Run = None
    conditions: Conditions | None = Field(default=None, description="Standard conditions.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")
