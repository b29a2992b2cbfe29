"""The status of a DataCube: what its agent and the reporter write."""

from typing import Annotated

from pydantic import Field

from stowplan.schema.kinds.conditions import LIST_MAP_BY_TYPE, Attempt, Condition
from stowplan.schema.meta import Model

INITIALIZED = "The DataCube is initialized"
"""Message of the condition `Initialized`, as the TensorStack platform has it."""


class PodName(Model):
    """A pod by name and identity."""

    name: str | None = Field(default=None, description="Name of the pod.")
    uid: str | None = Field(default=None, description="Its uid.")


class CubePod(Model):
    """The pod of the newest attempt."""

    reference: PodName | None = Field(default=None, description="Name and uid of the pod.")
    phase: str | None = Field(default=None, description="Phase of the pod, such as `Running`.")
    status: str | None = Field(default=None, description="Its state in a word, such as `Completed`.")


class CubeCondition(Condition):
    """One condition, with the time of the last look, as the kind of the TensorStack platform has it."""

    last_probe_time: str | None = Field(
        default=None, description="When the condition was last observed, RFC 3339; a change of `status` may be older."
    )


class DataCubeStatus(Model):
    """What was observed of the transfer."""

    phase: str | None = Field(default=None, description="`Pending`, `Running`, `Succeeded` or `Failed`.")
    run: str | None = Field(
        default=None,
        description="The run that was observed: the hash or the scheduled minute that ends its Job's name.",
    )
    progress: str | None = Field(default=None, description="How much is done, such as `42%`.")
    revision: str | None = Field(
        default=None,
        description="What was copied: the commit of a Git or Hugging Face repository, or the hash of the listing of objects that were downloaded from an S3 store.",
    )
    pod: CubePod | None = Field(default=None, description="The pod of the newest attempt.")
    attempt: Attempt | None = Field(default=None, description="The newest attempt, reported by its agent.")
    conditions: Annotated[list[CubeCondition], Field(json_schema_extra=LIST_MAP_BY_TYPE)] | None = Field(
        default=None, description="`Initialized`, then `Complete` or `Failed`; wait for the last two."
    )
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")
