"""`SampleJob`: one task on a `SampleSet`: sync, warmup, rmr or clear."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from stowplan.schema.juicefs.sync_options import SyncOptions
from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.conditions import AttemptCounts, Conditions, TaskAttempts
from stowplan.schema.kinds.custom_resource import Column, CustomResource
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.meta import Int32, Model, NamedReference, SecretReference

TaskType = Literal["sync", "warmup", "rmr", "clear"]


class WarmupOptions(Model):
    """What a warmup loads into the caches."""

    paths: list[str] | None = Field(
        default=None, min_length=1, description="Paths of the dataset to load. Without it, everything."
    )
    file: str | None = Field(
        default=None,
        description="A file of the dataset that lists the paths to load, one per line. Replaces `paths`.",
    )
    threads: int | None = Field(default=None, description="Downloads at one time on each node. JuiceFS default 50.")
    strategy_name: Literal["random", "sequence"] | None = Field(
        default=None,
        description="How files are distributed over the nodes: `sequence` in turn (the default), `random` by a seeded hash.",
    )
    partitions: Int32 | None = Field(default=None, ge=1, description="No effect: the dataset's `partitions` is used.")


class RmrOptions(Model):
    """What is removed from the dataset."""

    paths: list[str] | None = Field(
        default=None, min_length=1, description="Paths of the dataset to remove, with everything below them."
    )


class ClearOptions(Model):
    """What is cleared from the caches."""

    paths: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Cache directories to clear. With JuiceFS, which cannot clear a part of its cache, they must be all of the dataset's. Without it, all.",
    )


class SampleJobSpec(Model):
    """The task and its options."""

    type: TaskType | None = Field(
        default=None, description="What to do: `sync`, `warmup`, `rmr` or `clear`. Must be given."
    )
    sample_set_ref: NamedReference | None = Field(
        default=None, description="The SampleSet to work on, in the same namespace. Must be given."
    )
    secret_ref: SecretReference | None = Field(
        default=None,
        description="Secret with `access-key` and `secret-key` of the source. Must be given for `sync`.",
    )
    terminate: bool | None = Field(
        default=None,
        description="True suspends the task: its running pods end. With `schedule`, no new run starts, and a running one ends by itself.",
    )
    schedule: str | None = Field(
        default=None,
        description="Cron expression, such as `0 3 * * *`. With it, the task runs at these times; without it, once.",
    )
    time_zone: str | None = Field(
        default=None,
        description="Time zone of the schedule, such as `Europe/Berlin`. Without it, that of the control plane.",
    )
    sync_options: SyncOptions | None = Field(default=None, description="Options of a sync.")
    warmup_options: WarmupOptions | None = Field(default=None, description="Options of a warmup.")
    rmr_options: RmrOptions | None = Field(default=None, description="Options of an rmr. Must be given for `rmr`.")
    clear_options: ClearOptions | None = Field(default=None, description="Options of a clear.")


class SampleJobStatus(Model):
    """What was observed of the task."""

    phase: str | None = Field(default=None, description="`Pending`, `Running`, `Succeeded` or `Failed`.")
    job_name: str | None = Field(
        default=None, description="The run: name of its Job, of the first partition's if there are several."
    )
    counts: AttemptCounts | None = Field(default=None, description="Number of partitions in each state.")
    start_time: str | None = Field(default=None, description="When the newest run began, RFC 3339.")
    completion_time: str | None = Field(default=None, description="When it ended, RFC 3339.")
    attempts: TaskAttempts | None = Field(
        default=None, description="The newest attempts, one entry per partition, reported by their agents."
    )
    conditions: Conditions | None = Field(default=None, description="Standard conditions.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")


class SampleJob(CustomResource):
    """One task on a SampleSet: copy into it, warm its caches, remove from it, or clear its caches.

    Replaces the kind of paddle-operator (branch `sampleset`) and PaddleCloud 0.4.
    """

    COLUMNS: ClassVar[tuple[Column, ...]] = (Column("PHASE", ".status.phase"),)
    STATUS: ClassVar[type[Model]] = SampleJobStatus
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        "spec": {
            "allOf": [
                editor_rules.needs("type"),
                editor_rules.below("sampleSetRef", editor_rules.needs("name")),
                {
                    "if": editor_rules.where("type", "sync"),
                    "then": editor_rules.below("syncOptions", editor_rules.needs("source")),
                },
                {
                    "if": editor_rules.where("type", "rmr"),
                    "then": editor_rules.below("rmrOptions", editor_rules.needs("paths")),
                },
            ]
        },
        "spec.schedule": editor_rules.SCHEDULE,
        "spec.sampleSetRef.name": editor_rules.SUBDOMAIN,
        "spec.secretRef.name": editor_rules.SUBDOMAIN,
        "spec.syncOptions.source": editor_rules.URI,
        "spec.syncOptions.threads": {"minimum": 1},
    }

    api_version: Literal["batch.paddlepaddle.org/v1alpha1"] = Field(description="Version of this kind.")
    kind: Literal["SampleJob"] = Field(description="Always `SampleJob`.")
    spec: SampleJobSpec = Field(description="The task and its options.")
