"""The status of a `PaddleJob`, as it is reported."""

from pydantic import Field

from stowplan.schema.kinds.conditions import Conditions, Run
from stowplan.schema.meta import Model


class ObjectReference(Model):
    """A pod of a role."""

    api_version: str | None = Field(default=None, description="Version of its kind.")
    kind: str | None = Field(default=None, description="Its kind.")
    namespace: str | None = Field(default=None, description="Its namespace.")
    name: str | None = Field(default=None, description="Its name.")
    uid: str | None = Field(default=None, description="Its uid.")
    resource_version: str | None = Field(default=None, description="Its version in the API server.")
    field_path: str | None = Field(default=None, description="A part of it.")


class RoleStatus(Model):
    """The pods of one role, counted."""

    pending: int | None = Field(default=None, description="Pods that wait for a node or their images.")
    starting: int | None = Field(default=None, description="Pods whose containers are not all ready.")
    running: int | None = Field(default=None, description="Pods whose containers are all ready.")
    failed: int | None = Field(default=None, description="Pods that failed.")
    succeeded: int | None = Field(default=None, description="Pods that are done.")
    unknown: int | None = Field(default=None, description="Pods whose node does not answer.")
    refs: list[ObjectReference] | None = Field(default=None, description="The pods.")


class PaddleJobStatus(Model):
    """What was observed of the job."""

    phase: str | None = Field(
        default=None,
        description="`Pending`, `Starting`, `Running`, `Failed` or `Completed`.",
    )
    mode: str | None = Field(default=None, description="`PS`, `Collective` or `Single`.")
    ps: RoleStatus | None = Field(default=None, description="The parameter servers.")
    worker: RoleStatus | None = Field(default=None, description="The workers.")
    heter: RoleStatus | None = Field(default=None, description="The heterogeneous workers.")
    elastic: str | None = Field(default=None, description="Never set, also by the old operator.")
    start_time: str | None = Field(
        default=None, json_schema_extra={"format": "date-time"}, description="When all pods ran for the first time."
    )
    completion_time: str | None = Field(
        default=None, json_schema_extra={"format": "date-time"}, description="When the job completed or failed."
    )
    run: Run = None
    conditions: Conditions | None = Field(default=None, description="Standard conditions.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")
