"""`Dataset`: data, where it comes from, where it is stored and where it is cached."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from stowplan.schema.drivers.registry import VOLUMES, VolumeBlocks
from stowplan.schema.drivers.table import DRIVERS, Driver
from stowplan.schema.drivers.volume import VolumeBlock
from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource, TimeZone
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.kinds.kubernetes_shapes import NodeAffinity, Toleration
from stowplan.schema.kinds.sample_set_status import SampleSetStatus
from stowplan.schema.meta import Int32, Model
from stowplan.schema.remotes.place import EXCLUDE, INCLUDE, LocalSecret, Patterns
from stowplan.schema.remotes.registry import SOURCES, SourceBlocks


class StorageSource(Model):
    """An object storage that JuiceFS can read."""

    uri: str = Field(
        description="`NAME://BUCKET[.ENDPOINT][/PREFIX]`, with a storage name of `juicefs sync`, such as `oss` or `gs`. The prefix is a directory: everything below it is copied.",
        min_length=10,
        max_length=2048,
    )
    secret_ref: LocalSecret | None = Field(
        default=None,
        description="Secret with the keys `access-key` and `secret-key`. Without it, the storage must be public.",
    )
    include: Patterns | None = Field(default=None, description=INCLUDE)
    exclude: Patterns | None = Field(default=None, description=EXCLUDE)


class DatasetSource(SourceBlocks):
    """Where the data comes from: exactly one of the four."""

    storage: StorageSource | None = Field(
        default=None,
        description="Another object storage that JuiceFS can read. A sync copies files that are new, or have another size or time than the object.",
    )
    max_delete: int | None = Field(
        default=None,
        ge=0,
        description="Maximum number of files to delete when the source moves: those that earlier syncs brought and that the new source lacks. If more would be deleted, the sync fails and changes nothing. Default 1000.",
    )


class DatasetVolume(VolumeBlocks):
    """Where the data is stored: exactly one of the two."""

    @property
    def given(self) -> tuple[Driver, VolumeBlock] | None:
        """The driver whose block is given, the first one of several, and the block; None without any."""
        blocks = ((driver, getattr(self, driver.field)) for driver in DRIVERS.values())
        return next(((driver, block) for driver, block in blocks if block is not None), None)


class CacheTier(Model):
    """One tier of the cache of a node."""

    path: str = Field(
        min_length=1,
        max_length=4096,
        description="Absolute directory of the node. The platform may allow only the directories of a list, `juicefs.cacheDirectories`.",
    )
    size: str = Field(max_length=32, description="Size of the tier on each node, such as `200Gi`.")
    medium: Literal["Disk", "Memory"] = Field(
        default="Disk",
        description="`Memory` for a directory in memory, such as one below `/dev/shm`. The available space in the status is then at most the available memory of the node.",
    )


class DatasetCache(Model):
    """Which nodes cache the data, and how. Only with a JuiceFS volume."""

    nodes: Int32 = Field(ge=1, description="Number of nodes that cache the data.")
    tiers: list[CacheTier] | None = Field(
        default=None,
        min_length=1,
        max_length=16,
        description="The tiers, fastest first. Without it, the platform's `juicefs.cacheSize` in a directory of its own, below `/var/jfsCache` or the first one of `juicefs.cacheDirectories`.",
    )
    node_selector: dict[str, str] | None = Field(default=None, description="Labels of the nodes that may cache.")
    affinity: NodeAffinity | None = Field(default=None, description="Which nodes may cache: a Kubernetes NodeAffinity.")
    tolerations: list[Toleration] | None = Field(
        default=None, description="Taints that cache and task pods tolerate: Kubernetes Tolerations."
    )
    warmup: Literal["all", "none"] = Field(
        default="all",
        description="What is loaded into the caches after each sync: `all`, or `none` if data is cached only when it is read. Of data that is larger than the cache, what fits is loaded.",
    )
    warmup_paths: list[Annotated[str, Field(min_length=1, max_length=4096)]] | None = Field(
        default=None,
        min_length=1,
        max_length=1024,
        description="Paths of the data to load after each sync, instead of all.",
    )


class Refresh(Model):
    """Copies again what is new at the source."""

    schedule: str = Field(max_length=256, description="Cron expression, such as `0 3 * * *`.")
    time_zone: TimeZone = None
    delete: bool | None = Field(
        default=None, description="Also delete what the source no longer has. Default false. Only with `s3`."
    )
    max_delete: int | None = Field(
        default=None,
        ge=0,
        description="With `delete`: maximum number of files to delete. If more would be deleted, the refresh fails without deleting any. Default 1000.",
    )


class DatasetSpec(Model):
    """Where the data comes from, where it is stored and where it is cached."""

    source: DatasetSource | None = Field(
        default=None, description="Where the data comes from. Without it, the volume is taken as it is."
    )
    volume: DatasetVolume = Field(description="Where the data is stored.")
    cache: DatasetCache | None = Field(
        default=None, description="Which nodes cache the data. Without it, no node does."
    )
    refresh: Refresh | None = Field(default=None, description="Copy again what is new at the source, on a schedule.")
    retain: bool | None = Field(
        default=None,
        description="Whether claim and volume outlive the spec. Default true: Argo CD never deletes them. With `false` it deletes these objects with the spec; the data of a JuiceFS volume stays, that of a claim if its storage class says so.",
    )


class DatasetStatus(SampleSetStatus):
    """What was observed of the dataset. The fields are those of a SampleSet, so the same agents report both."""


def _place(driver: str) -> tuple[tuple[str, ...], ...]:
    return tuple(("volume", DRIVERS[driver].field, *path) for path in VOLUMES[driver].PLACE)


class Dataset(CustomResource):
    """Data that training jobs mount: copied from a source, and cached on nodes."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("PHASE", ".status.phase"),
        Column("FILES", ".status.cacheStatus.totalFiles"),
        Column("SIZE", ".status.cacheStatus.totalSize"),
        Column("CACHED", ".status.cacheStatus.cachedSize"),
        Column("NODES", ".status.runtimeStatus.runtimeReady"),
        Column("REVISION", ".status.revision"),
        AGE,
    )
    STATUS: ClassVar[type[Model]] = DatasetStatus
    AFTER: ClassVar[tuple[str, ...]] = ()
    OUTSIDE_RUN: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("cache", "nodes"),
        ("cache", "tiers"),
        ("cache", "nodeSelector"),
        ("cache", "affinity"),
        ("cache", "tolerations"),
        ("refresh",),
        ("retain",),
    )
    PLACE: ClassVar[tuple[tuple[str, ...], ...]] = (("source",), *_place("juicefs"), *_place("pvc"))
    PLACE_IF_GIVEN: ClassVar[tuple[tuple[str, ...], ...]] = tuple(
        path for name in VOLUMES for path in _place(name) if name not in ("juicefs", "pvc")
    )
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        "spec": {
            "if": editor_rules.one_of(
                editor_rules.below("volume", editor_rules.needs(driver.field))
                for driver in DRIVERS.values()
                if not driver.cached
            ),
            "then": {"not": editor_rules.needs("cache")},
        },
        "spec.source": {"oneOf": [editor_rules.needs(kind) for kind in (*SOURCES, "storage")]},
        "spec.volume": editor_rules.ONE,
        "spec.volume.claim": {"oneOf": [editor_rules.needs("name"), editor_rules.needs("template")]},
        "spec.source.storage.uri": editor_rules.URI,
        **{f"spec.source.{kind}.secretRef.name": editor_rules.SUBDOMAIN for kind in (*SOURCES, "storage")},
        **{
            f"spec.volume.{DRIVERS[name].field}.secretRef.name": editor_rules.SUBDOMAIN
            for name, volume in VOLUMES.items()
            if "secret_ref" in volume.model_fields
        },
        "spec.cache.tiers[].path": editor_rules.pattern("/.*", "A directory of the node begins with /."),
        "spec.refresh.schedule": editor_rules.SCHEDULE,
    }

    api_version: Literal["stowplan.dev/v1alpha1"] = Field(description="Version of this kind.")
    kind: Literal["Dataset"] = Field(description="Always `Dataset`.")
    spec: DatasetSpec = Field(description="Where the data comes from, where it is stored and where it is cached.")
