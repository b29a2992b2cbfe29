"""The status of a DataCube: what its agent and the reporter write."""

from pydantic import Field

from stowplan.schema.kinds.conditions import Attempt, Conditions
from stowplan.schema.meta import Model


class PodName(Model):
    """A pod by name and identity."""

    name: str | None = Field(default=None, description="Name of the pod.")
    uid: str | None = Field(default=None, description="Its uid.")


class CubePod(Model):
    """The pod of the newest attempt."""

    reference: PodName | None = Field(default=None, description="Name and uid of the pod.")
    phase: str | None = Field(default=None, description="Phase of the pod, such as `Running`.")
    status: str | None = Field(default=None, description="Its state in a word, such as `Completed`.")


class DataCubeStatus(Model):
    """What was observed of the transfer."""

    phase: str | None = Field(default=None, description="`Pending`, `Running`, `Succeeded` or `Failed`.")
    progress: str | None = Field(default=None, description="How much is done, such as `42%`.")
    revision: str | None = Field(
        default=None, description="What was copied, such as the commit of a Git or Hugging Face repository."
    )
    pod: CubePod | None = Field(default=None, description="The pod of the newest attempt.")
    attempt: Attempt | None = Field(default=None, description="The newest attempt, reported by its agent.")
    conditions: Conditions | None = Field(
        default=None, description="`Initialized`, then `Complete` or `Failed`; wait for the last two."
    )
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")
