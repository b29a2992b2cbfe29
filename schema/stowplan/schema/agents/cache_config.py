"""Configuration of the cache agent: written by the compiler, mounted as a file, read in the pod.

Secrets are not part of it: they are environment variables (`agent_config.VOLUME_SECRET_ENV`, `SOURCE_SECRET_ENV`).
`stowplan.schema.agents.marker` defines how a finished run is recognised.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from stowplan.schema.agents.agent_config import DEFAULT_MAX_DELETE, AgentConfig
from stowplan.schema.drivers.table import DEFAULT_DRIVER

CACHE_TOO_SMALL = "CacheTooSmall"
"""Reason of a warmup's success if its node's cache has no space for all files; also the type of the condition that says
so.
"""


class CacheAgentConfig(AgentConfig):
    """What every configuration of the cache agent has."""

    ADDED: ClassVar[tuple[str, ...]] = ("driver",)
    """Fields that older files lack, so that they are written only with another value than their default."""

    driver: str = Field(
        default=DEFAULT_DRIVER,
        description="Storage driver of the dataset, whose programs the agent runs.",
        max_length=63,
    )

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        for name in self.ADDED:
            field = type(self).model_fields[name]
            if getattr(self, name) == field.default:
                del written[field.alias or name]
        return written


class RuntimeConfig(CacheAgentConfig):
    """The cache agent of one node: keeps the mount in use, measures it and reports."""

    task: Literal["runtime"] = Field(default="runtime", description="What to do.")
    mount_path: str = Field(description="Where the dataset is mounted.")
    partitions: int = Field(description="Number of cache pods; entries of higher ordinals are removed.", ge=1)
    cache_size_mib: int = Field(alias="cacheSizeMiB", description="Cache budget of one node in MiB.", gt=0)
    mount_options: list[str] = Field(
        description="Options of the mount. They are here so that a change restarts the cache pods: a mount that is in use keeps its old ones."
    )
    synced: bool = Field(description="Whether a sync of the SampleSet fills the dataset.")
    warmed: bool = Field(description="Whether a warmup of each partition follows that sync.")
    interval_seconds: int = Field(
        default=30, description="Time between two measurements; it grows with their cost.", gt=0
    )
    memory_directories: list[str] | None = Field(
        default=None,
        description="Cache directories that the spec says are in memory, besides those below `/dev/shm`, which are; null for none.",
    )


class TaskConfig(CacheAgentConfig):
    """What all tasks share. A task reports on its own entry of `status.attempts`."""

    dataset: str = Field(description="Name of the SampleSet.")
    soft_deadline_seconds: int | None = Field(
        default=None,
        description="Seconds after the agent's start at which the attempt keeps what it has and ends with exit code 12; null for none.",
        ge=1,
    )


class SyncConfig(TaskConfig):
    """Copies from remote storage into the volume: through the metadata engine of JuiceFS, or into a mounted claim."""

    ADDED: ClassVar[tuple[str, ...]] = ("driver", "max_delete")

    task: Literal["sync"] = Field(default="sync", description="What to do.")
    source: str = Field(description="Source URI without credentials.")
    destination: str = Field(description="Path in the volume, from its root, such as `/` or `/train/`.")
    mount_path: str | None = Field(
        default=None,
        description="Where the claim of the dataset is mounted; null for a JuiceFS volume, which a sync writes to without a mount.",
    )
    root: str | None = Field(
        default=None,
        description="Directory of the volume or claim that is mounted as the dataset, from its root, such as `/train`; null for the root itself. The markers and the lock lie below it.",
    )
    flags: dict[str, str | int | bool] = Field(
        description="Flags of `juicefs sync`, without dashes. `include` goes before `exclude`: the first pattern that matches decides. Each is one argument, `--key=value` or `--key`, so that no value is taken for another flag."
    )
    completes: bool = Field(
        description="Whether the dataset is complete with the end of this sync, so that it removes and writes the markers by which others see that: true for a SampleSet's own, and for any on a SampleSet with `noSync`."
    )
    include: tuple[str, ...] | None = Field(
        default=None,
        description="Patterns of the keys to copy, as the transfer agent has them: `*` matches `/` too, and `folder/` is everything below. Null for all.",
    )
    exclude: tuple[str, ...] | None = Field(
        default=None, description="Patterns of the keys to leave out, which go before `include`; null for none."
    )
    volume: str = Field(
        default="JFS",
        description="Name of the environment variable that carries the metadata URL to JuiceFS.",
    )
    max_delete: int = Field(
        default=DEFAULT_MAX_DELETE,
        description="Most files of an earlier source to delete where the source has moved; more is a conflict (5), and nothing is copied.",
        ge=0,
    )


class MountedTask(TaskConfig):
    """What tasks on a mounted dataset share."""

    mount_path: str = Field(description="Where the dataset is mounted.")


class WarmupConfig(MountedTask):
    """Loads one partition's share of the files into the cache of the node it runs on."""

    task: Literal["warmup"] = Field(default="warmup", description="What to do.")
    paths: list[str] = Field(description="Paths below the mount; empty for everything.")
    file: str | None = Field(default=None, description="File below the mount that lists the paths; replaces `paths`.")
    threads: int = Field(default=50, description="Downloads at one time.", ge=1)
    strategy: Literal["sequence", "random"] = Field(description="How the sorted files are dealt out.")
    partitions: int = Field(description="Number of shares; which one is the argument `--partition`.", ge=1)
    threshold: int = Field(
        description="Percent of the bytes that must be cached in the end: of the share, or of those of its files that fit into the cache.",
        ge=0,
        le=100,
    )
    after_run: str | None = Field(
        default=None,
        description="Name of the sync Job whose marker to wait for, in place of `after`, where it does not end as the own Job's.",
    )
    marks: bool | None = Field(
        default=None,
        description="False if no marker tells waiting jobs of this warmup, since the sync before it does not complete the dataset; null for true.",
    )
    after: str | None = Field(
        default=None,
        description="Stem of the sync Job whose marker to wait for; its name ends in the same hash as the own Job's. A marker of a run that failed ends the wait with exit code 4.",
    )


class RmrConfig(MountedTask):
    """Removes paths from the dataset."""

    task: Literal["rmr"] = Field(default="rmr", description="What to do.")
    paths: list[str] = Field(description="Paths below the mount.", min_length=1)


class ClearConfig(MountedTask):
    """Evicts the dataset from the cache of the node it runs on."""

    task: Literal["clear"] = Field(default="clear", description="What to do.")
    partitions: int | None = Field(
        default=None, description="Number of cache nodes that are cleared, each by a Job; null for one.", ge=1
    )
    cache_paths: list[str] = Field(
        description="Cache directories to clear. Must be empty, for all of them: JuiceFS cannot clear one alone."
    )


CacheConfig = Annotated[
    RuntimeConfig | SyncConfig | WarmupConfig | RmrConfig | ClearConfig, Field(discriminator="task")
]
"""Any configuration of `python -m stowplan.agents.cache`; the field `task` says which one."""
