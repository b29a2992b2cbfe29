"""Parts of a status that all kinds share."""

from typing import Annotated, Any, Literal

from pydantic import Field

from stowplan.schema.meta import Model

_LIST_MAP_BY_TYPE: dict[str, Any] = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}


class Condition(Model):
    """One condition, as `metav1.Condition` has it."""

    type: str = Field(description="What is observed, such as `Ready`.", max_length=316)
    status: Literal["True", "False", "Unknown"] = Field(description="Whether it holds.")
    reason: str = Field(description="One word that says why.", max_length=1024)
    message: str | None = Field(default=None, description="Details for people.", max_length=32768)
    last_transition_time: str = Field(description="When `status` last changed, RFC 3339.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")


Conditions = Annotated[list[Condition], Field(json_schema_extra=_LIST_MAP_BY_TYPE)]


class Attempt(Model):
    """What the agent of one attempt says of itself."""

    run: str | None = Field(default=None, description="The run: the Job's name, or the scheduled time.")
    pod: str | None = Field(default=None, description="Pod of the attempt.")
    result: str | None = Field(default=None, description="`running`, `succeeded` or `failed`.")
    exit_code: int | None = Field(default=None, description="Exit code of the agent; 0 is success.")
    message: str | None = Field(default=None, description="What happened, in a sentence.")
    bytes: int | None = Field(default=None, description="Bytes moved so far.")
    total_bytes: int | None = Field(default=None, description="Bytes to move.")
    files: int | None = Field(default=None, description="Files done so far.")
    total_files: int | None = Field(default=None, description="Files to do.")
    updated_at: str | None = Field(default=None, description="Time of this report, RFC 3339.")
