"""The status of a `SampleSet`, as the agents report it."""

from typing import Any

from pydantic import Field

from stowplan.schema.kinds.conditions import Conditions, TaskAttempts
from stowplan.schema.meta import Int32, Model

LIST_MAP_BY_ORDINAL: dict[str, Any] = {
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["ordinal"],
}


class CacheStatus(Model):
    """The sums over all partitions, for people."""

    total_size: str | None = Field(default=None, description="Size of the dataset, such as `4.2 GiB`.")
    total_files: str | None = Field(default=None, description="Number of files, such as `1,281`.")
    cached_size: str | None = Field(
        default=None, description="Bytes in the caches, never more than the dataset's size."
    )
    disk_size: str | None = Field(default=None, description="Cache budget of all nodes together.")
    disk_used: str | None = Field(default=None, description="Used part of the cache budget.")
    disk_avail: str | None = Field(
        default=None,
        description="Bytes that the caches of all nodes can still take: the free part of the cache budget. Of caches in memory, it is at most the available memory of their nodes. How much is free on disks is not known; a cache that drops blocks since its disk is full can take none until it grows again.",
    )
    disk_usage_rate: str | None = Field(default=None, description="Used share of the cache budget, such as `43.1%`.")
    error_massage: str | None = Field(
        default=None, description="What went wrong while measuring. The spelling is the old operator's."
    )


class RuntimeStatus(Model):
    """The cache pods."""

    spec_replicas: Int32 | None = Field(default=None, description="Wanted cache pods.")
    ready_replicas: Int32 | None = Field(default=None, description="Ready cache pods.")
    runtime_ready: str | None = Field(default=None, description="Ready and wanted cache pods, such as `2/3`.")


class JobsName(Model):
    """The runs that filled the dataset."""

    sync_job_name: str | None = Field(default=None, description="The sync Job.")
    warmup_job_name: str | None = Field(default=None, description="The warmup Job of the first partition.")


class Partition(Model):
    """What the cache pod of one node measured."""

    ordinal: Int32 = Field(description="Number of the cache pod, from 0.", ge=0)
    node: str | None = Field(default=None, description="Node that the pod runs on.")
    total_bytes: int | None = Field(default=None, description="Bytes of the dataset.")
    total_files: int | None = Field(default=None, description="Files of the dataset.")
    cached_bytes: int | None = Field(default=None, description="Bytes of the volume in this node's cache.")
    available_bytes: int | None = Field(
        default=None,
        description="Bytes that this node's cache can still take: the free part of its budget, and in memory at most the available memory of the node.",
    )
    budget_bytes: int | None = Field(default=None, description="Cache budget of this node in bytes.")
    message: str | None = Field(default=None, description="What went wrong while measuring.")
    observed_at: str | None = Field(default=None, description="Time of the measurement, RFC 3339.")


class SampleSetStatus(Model):
    """What was observed of the dataset."""

    phase: str | None = Field(
        default=None, description="`Bound`, `Mount`, `Syncing`, `SyncFailed`, `PartialReady` or `Ready`."
    )
    run: str | None = Field(
        default=None, description="The run that fills the dataset: the hash that ends the name of its sync Job."
    )
    revision: str | None = Field(
        default=None,
        description="What the last sync copied: a commit of Git or of a Hub, or the hash of the listing of an S3 store (keys, sizes and ETags of all objects below the prefix). Empty if the source cannot be listed, or has changed during the sync.",
        max_length=256,
    )
    cache_status: CacheStatus | None = Field(default=None, description="Sums over all partitions.")
    runtime_status: RuntimeStatus | None = Field(default=None, description="The cache pods.")
    jobs_name: JobsName | None = Field(default=None, description="The runs that filled the dataset.")
    partitions: list[Partition] | None = Field(
        default=None, description="One entry for each cache pod.", json_schema_extra=LIST_MAP_BY_ORDINAL
    )
    attempts: TaskAttempts | None = Field(
        default=None, description="The runs that fill the dataset, one entry for each task and partition."
    )
    conditions: Conditions | None = Field(default=None, description="Standard conditions.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")
