"""Parts of a status that all kinds share."""

from typing import Annotated, Any, Literal

from pydantic import Field

from stowplan.schema.agents.left_out import LONGEST_EXAMPLE, MOST_EXAMPLES, Reason
from stowplan.schema.meta import Int32, Model

LIST_MAP_BY_TYPE: dict[str, Any] = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
_LIST_MAP_BY_TASK: dict[str, Any] = {
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["task", "partition"],
}
_LIST_MAP_BY_REASON: dict[str, Any] = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["reason"]}


class Condition(Model):
    """One condition, as `metav1.Condition` has it."""

    type: str = Field(description="What is observed, such as `Ready`.", max_length=316)
    status: Literal["True", "False", "Unknown"] = Field(description="Whether it holds.")
    reason: str = Field(description="One word that says why.", max_length=1024)
    message: str | None = Field(default=None, description="Details for people.", max_length=32768)
    last_transition_time: str = Field(description="When `status` last changed, RFC 3339.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")


Conditions = Annotated[list[Condition], Field(json_schema_extra=LIST_MAP_BY_TYPE)]


Run = Annotated[
    str | None, Field(description="The run that was observed: the hash that ends the names of its objects.")
]


class LeftOut(Model):
    """What a copy left out for one reason."""

    reason: Reason = Field(description="Why.")
    count: int | None = Field(default=None, description="Number of files, links or folders.")
    examples: (
        Annotated[list[Annotated[str, Field(max_length=LONGEST_EXAMPLE)]], Field(max_length=MOST_EXAMPLES)] | None
    ) = Field(default=None, description="The first of them.")


class AttemptReport(Model):
    """What each agent reports about its own attempt."""

    run: str | None = Field(default=None, description="The run: the Job's name, or the scheduled time.")
    pod: str | None = Field(default=None, description="Pod of the attempt.")
    exit_code: int | None = Field(default=None, description="Exit code of the agent; 0 is success.")
    message: str | None = Field(default=None, description="What happened, in a sentence.")
    bytes: int | None = Field(default=None, description="Bytes moved so far.")
    total_bytes: int | None = Field(default=None, description="Bytes to move.")
    files: int | None = Field(default=None, description="Files done so far.")
    total_files: int | None = Field(default=None, description="Files to do.")
    copied: int | None = Field(default=None, description="Of a copy: files that this attempt copied.")
    unchanged: int | None = Field(default=None, description="Of a copy: files that were there already.")
    deleted: int | None = Field(default=None, description="Of a copy: files that the source no longer has.")
    unknown: int | None = Field(
        default=None,
        description="Of a copy: files of the destination that the source does not list, and that remain. A folder of others counts as one.",
    )
    unverified: int | None = Field(
        default=None, description="Of a copy: copied files whose content no checksum of the source could prove."
    )
    left_out: Annotated[list[LeftOut], Field(json_schema_extra=_LIST_MAP_BY_REASON)] | None = Field(
        default=None, description="Of a copy: what the source has and is not copied, by reason."
    )
    updated_at: str | None = Field(default=None, description="Time of this report, RFC 3339.")


class Attempt(AttemptReport):
    """The newest attempt of a kind that has one Job: a DataCube."""

    result: str | None = Field(default=None, description="`running`, `succeeded` or `failed`.")


class TaskAttempt(AttemptReport):
    """The newest attempt of one task on one partition. Each process writes its own entry and no other."""

    task: Literal["sync", "warmup", "rmr", "clear", "copy"] = Field(description="What is done.")
    partition: Int32 = Field(description="Number of the cache node, from 0; 0 where the task has one Job.", ge=0)
    state: Literal["waiting", "running", "succeeded", "failed"] | None = Field(
        default=None,
        description="State of the task. `waiting` is for another task, or for a lock. The Job may retry a failure: `exitCode` tells whether a retry can help.",
    )
    reason: str | None = Field(default=None, description="One word that says why.")
    started_at: str | None = Field(default=None, description="When the attempt began, RFC 3339.")
    budget_bytes: int | None = Field(
        default=None, description="Of a warmup that found the cache too small: the budget of that cache at this time."
    )


TaskAttempts = Annotated[list[TaskAttempt], Field(json_schema_extra=_LIST_MAP_BY_TASK)]


class AttemptCounts(Model):
    """Partitions of a task, by the state of their newest attempts."""

    total: Int32 | None = Field(default=None, description="Partitions to work on; 1 where the task has one Job.")
    running: Int32 | None = Field(default=None, description="Partitions that are being worked on, or wait.")
    succeeded: Int32 | None = Field(default=None, description="Partitions that are done.")
    failed: Int32 | None = Field(default=None, description="Partitions whose newest attempt failed.")
