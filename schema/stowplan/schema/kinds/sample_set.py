"""`SampleSet`: a dataset from remote storage, cached on the cluster nodes that train on it."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from stowplan.schema.drivers.table import DriverName
from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.kinds.kubernetes_shapes import ClaimTemplate, NodeAffinity, Toleration
from stowplan.schema.kinds.sample_set_status import SampleSetStatus
from stowplan.schema.meta import Int32, Model, SecretReference


class Source(Model):
    """Where the samples come from."""

    uri: str | None = Field(
        default=None,
        min_length=10,
        description="Remote storage to copy from: `NAME://BUCKET[.ENDPOINT][/PREFIX]`. Not used when `noSync` is true.",
    )
    secret_ref: SecretReference | None = Field(
        default=None,
        description="Secret with `access-key` and `secret-key` of the source. What is missing is taken from `spec.secretRef`.",
    )


class CacheLevel(Model):
    """One tier of the cache."""

    medium_type: Literal["MEM", "SSD", "HDD"] | None = Field(
        default=None,
        description="Medium of the tier. With `MEM`, as below `/dev/shm`, the available space in the status is at most the available memory of the nodes. Otherwise it is a note for readers.",
    )
    path: str | None = Field(
        default=None,
        min_length=1,
        description="Absolute host directories of this tier, joined by `:`. System directories are refused. The platform may allow only the directories of a list, `juicefs.cacheDirectories`.",
    )
    cache_size: int | None = Field(
        default=None,
        description="Size of this tier in MiB. The sizes of all tiers are added up; JuiceFS splits the sum evenly over all directories.",
    )


class Cache(Model):
    """How samples are cached on each node."""

    levels: list[CacheLevel] | None = Field(default=None, min_length=1, description="The tiers, fastest first.")


class DatasetClaim(Model):
    """The claim that holds the samples, and the place in it."""

    name: str | None = Field(
        default=None,
        max_length=253,
        description="Name of the claim, in the namespace of the SampleSet. Without it, the SampleSet's name.",
    )
    sub_path: str | None = Field(
        default=None,
        max_length=4096,
        description="Directory of the samples in the claim, without `/` at its beginning and without `..`. Without it, the root.",
    )
    template: ClaimTemplate | None = Field(
        default=None,
        description="The claim itself, written with the SampleSet: `metadata` and `spec` of a PersistentVolumeClaim, with a storage class, access modes and a size. Without it, the claim must be there.",
    )


class Csi(Model):
    """The storage driver and its options."""

    driver: DriverName | None = Field(
        default=None,
        description="Storage driver. `juicefs`, the default, caches a volume on nodes. `pvc` is a claim of any storage, such as NFS, which is filled from S3 and not cached.",
    )
    claim: DatasetClaim | None = Field(default=None, description="The claim, for the driver `pvc`.")
    juice_fs_mount_options: MountOptions | None = Field(
        default=None, alias="juiceFSMountOptions", description="Options of the JuiceFS mount on each node."
    )


class SampleSetSpec(Model):
    """What the dataset is, where it comes from and where it is cached."""

    partitions: Int32 | None = Field(
        default=None,
        ge=1,
        description="Number of nodes that cache the dataset. Required unless `csi.driver` is `pvc`.",
    )
    source: Source | None = Field(
        default=None, description="Where the samples come from. Required unless `noSync` is true."
    )
    secret_ref: SecretReference | None = Field(
        default=None,
        description="Secret of the JuiceFS volume with the keys `name`, `metaurl`, `storage` and `bucket`. Required unless `csi.driver` is `pvc`, for which it is the Secret of the source.",
    )
    no_sync: bool | None = Field(
        default=None,
        description="True if the samples are already in the volume, so that no sync copies them.",
    )
    warmup_after_sync: bool | None = Field(
        default=None,
        description="Load the samples into the caches of all nodes after each sync, also one of a SampleJob. Without it, the platform's `juicefs.warmupAfterSync` decides.",
    )
    csi: Csi | None = Field(default=None, description="The storage driver and its options.")
    cache: Cache | None = Field(default=None, description="How samples are cached on each node.")
    node_affinity: NodeAffinity | None = Field(
        default=None, description="Which nodes may cache the dataset: a Kubernetes NodeAffinity."
    )
    tolerations: list[Toleration] | None = Field(
        default=None, description="Taints that cache and task pods tolerate: Kubernetes Tolerations."
    )


class SampleSet(CustomResource):
    """A dataset on remote storage, cached on the nodes that train on it.

    Replaces the kind of paddle-operator (branch `sampleset`) and PaddleCloud 0.4.
    """

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("TOTAL SIZE", ".status.cacheStatus.totalSize"),
        Column("CACHED SIZE", ".status.cacheStatus.cachedSize"),
        Column("AVAIL SPACE", ".status.cacheStatus.diskAvail"),
        Column("Runtime", ".status.runtimeStatus.runtimeReady"),
        Column("PHASE", ".status.phase"),
        AGE,
    )
    STATUS: ClassVar[type[Model]] = SampleSetStatus
    SERVICE: ClassVar[bool] = True
    AFTER: ClassVar[tuple[str, ...]] = ()
    OUTSIDE_RUN: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("partitions",),
        ("cache",),
        ("nodeAffinity",),
        ("tolerations",),
        ("csi", "juiceFSMountOptions", "cache-dir"),
        ("csi", "juiceFSMountOptions", "cache-size"),
    )
    PLACE: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("source",),
        ("secretRef",),
        ("noSync",),
        ("csi", "driver"),
        ("csi", "claim", "name"),
        ("csi", "claim", "subPath"),
        ("csi", "juiceFSMountOptions", "sub-dir"),
    )
    SPELLINGS: ClassVar[tuple[tuple[tuple[str, ...], str, str], ...]] = (
        (("spec", "csi", "juiceFSMountOptions"), "subdir", "sub-dir"),
    )
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        "spec": {
            "allOf": [
                {
                    "if": editor_rules.below("csi", editor_rules.where("driver", "pvc")),
                    "else": {
                        "allOf": [
                            editor_rules.needs("partitions"),
                            editor_rules.below("secretRef", editor_rules.needs("name")),
                        ]
                    },
                },
                {
                    "if": editor_rules.where("noSync", value=True),
                    "else": editor_rules.below("source", editor_rules.needs("uri")),
                },
            ]
        },
        "spec.source.uri": editor_rules.URI,
        "spec.secretRef.name": editor_rules.SUBDOMAIN,
        "spec.source.secretRef.name": editor_rules.SUBDOMAIN,
        "spec.cache.levels[].cacheSize": {"minimum": 0},
        "spec.cache.levels[].path": editor_rules.pattern("/.*", "A directory of the node begins with /."),
    }

    api_version: Literal["batch.paddlepaddle.org/v1alpha1"] = Field(description="Version of this kind.")
    kind: Literal["SampleSet"] = Field(description="Always `SampleSet`.")
    spec: SampleSetSpec = Field(description="What the dataset is, where it comes from and where it is cached.")
