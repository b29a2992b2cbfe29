"""`DatasetTask`: one operation on a dataset, once or on a schedule."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from stowplan.schema.agents.left_out import LINKS, Links
from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.conditions import AttemptCounts, Conditions, TaskAttempts
from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource, TimeZone
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.kinds.kubernetes_shapes import Resources
from stowplan.schema.kinds.native.run_after import RunAfter
from stowplan.schema.meta import Model
from stowplan.schema.remotes.place import InnerPath
from stowplan.schema.remotes.registry import TARGETS, TargetBlocks

TASKS: dict[str, Literal["sync", "warmup", "clear", "rmr", "copy"]] = {
    "sync": "sync",
    "warmup": "warmup",
    "evict": "clear",
    "remove": "rmr",
    "copy": "copy",
}
"""The agents' word for each field of the spec that says what is done."""

_Paths = Annotated[list[InnerPath], Field(min_length=1, max_length=1024)]


class DatasetName(Model):
    """A dataset in the namespace of the spec."""

    name: str = Field(description="Name of the Dataset.", min_length=1, max_length=253)


class SyncTask(Model):
    """Copies from the source of the dataset what is new. `{}` is enough."""

    delete: bool | None = Field(
        default=None, description="Also delete what the source no longer has. Default false. Only with `s3`."
    )
    max_delete: int | None = Field(
        default=None,
        ge=0,
        description="With `delete`: maximum number of files to delete. If more would be deleted, the task fails without deleting any. Default 1000.",
    )


class WarmupTask(Model):
    """Loads data into the caches of all cache nodes. `{}` loads everything."""

    paths: _Paths | None = Field(default=None, description="Paths of the data to load. Without it, everything.")


class EvictTask(Model):
    """Empties the caches of all cache nodes. The data itself stays. `{}` is the only value."""


class RemoveTask(Model):
    """Removes files of the dataset from its volume."""

    paths: _Paths = Field(description="Paths of the data to remove. Directories are removed with everything in them.")


class ClaimTarget(Model):
    """A claim in the namespace of the task, to copy to."""

    name: str = Field(min_length=1, max_length=253, description="Name of the claim, which must exist.")
    sub_path: InnerPath | None = Field(default=None, description="Directory in the claim. Without it, the root.")


class CopyTarget(TargetBlocks):
    """Where data is copied to: exactly one of the four."""

    claim: ClaimTarget | None = Field(default=None, description="Another claim.")


class CopyTask(Model):
    """Copies what the dataset holds at that time to another place. What is there already and equal is not copied again."""

    sub_path: InnerPath | None = Field(
        default=None, description="Directory of the dataset to copy. Without it, the whole dataset."
    )
    to: CopyTarget = Field(description="Where to copy to.")
    links: Links | None = Field(default=None, description=LINKS)


class DatasetTaskSpec(Model):
    """What is done, to which dataset, and when: exactly one of the five operations."""

    dataset_ref: DatasetName = Field(description="The dataset.")
    sync: SyncTask | None = Field(default=None, description="Copy from the source what is new.")
    warmup: WarmupTask | None = Field(default=None, description="Load data into the caches.")
    evict: EvictTask | None = Field(default=None, description="Empty the caches.")
    remove: RemoveTask | None = Field(default=None, description="Remove files from the volume.")
    copy_: CopyTask | None = Field(default=None, alias="copy", description="Copy data to another place.")
    schedule: str | None = Field(
        default=None,
        max_length=256,
        description="Cron expression, such as `0 3 * * *`. With it, the task runs at these times; without it, once.",
    )
    time_zone: TimeZone = None
    suspend: bool | None = Field(default=None, description="Stop the task, or hold it back, until this is false again.")
    run_after: list[RunAfter] | None = Field(
        default=None,
        max_length=16,
        description="Specs of the same namespace that must be done first. The pods of the task wait for that. Without it, tasks on one dataset run in any order.",
    )
    resources: Resources | None = Field(
        default=None,
        description="Requests and limits of the pods: Kubernetes' type. What is missing comes from the platform.",
    )


class DatasetTaskStatus(Model):
    """What was observed of the task."""

    phase: str | None = Field(default=None, description="`Pending`, `Running`, `Succeeded`, `Failed` or `Suspended`.")
    run: str | None = Field(default=None, description="The run that was observed: name of its first Job.")
    start_time: str | None = Field(default=None, description="When the run began, RFC 3339.")
    completion_time: str | None = Field(default=None, description="When the run ended, RFC 3339.")
    partitions: AttemptCounts | None = Field(default=None, description="Cache nodes, by the state of their attempts.")
    attempts: TaskAttempts | None = Field(
        default=None, description="One entry for each task and cache node, written by its agent."
    )
    conditions: Conditions | None = Field(default=None, description="Standard conditions.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")


class DatasetTask(CustomResource):
    """One operation on a dataset: sync, warmup, evict, remove or copy, once or on a schedule."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("DATASET", ".spec.datasetRef.name"),
        Column("PHASE", ".status.phase"),
        AGE,
    )
    STATUS: ClassVar[type[Model]] = DatasetTaskStatus
    AFTER: ClassVar[tuple[str, ...]] = ("spec", "runAfter")
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        "spec": {"oneOf": [editor_rules.needs(field) for field in ("sync", "warmup", "evict", "remove", "copy")]},
        "spec.datasetRef.name": editor_rules.SUBDOMAIN,
        "spec.copy.to": editor_rules.ONE,
        "spec.copy.to.claim.name": editor_rules.SUBDOMAIN,
        **{f"spec.copy.to.{kind}.secretRef.name": editor_rules.SUBDOMAIN for kind in TARGETS},
        "spec.schedule": editor_rules.SCHEDULE,
    }

    api_version: Literal["stowplan.dev/v1alpha1"] = Field(description="Version of this kind.")
    kind: Literal["DatasetTask"] = Field(description="Always `DatasetTask`.")
    spec: DatasetTaskSpec = Field(description="What is done, to which dataset, and when.")
