"""Neutral values between the dialects and the builders.

The large ones are named tuples, which are created several times as fast as frozen dataclasses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from stowplan.library.values.names import SampleSetNames
from stowplan.schema.agents.transfer_config import TransferConfig
from stowplan.schema.juicefs.options import MountOptions, SyncOptions
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform

Operation = Literal["sync", "warmup", "rmr", "clear"]

_NO_OPTIONS = SyncOptions()
_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Site:
    """Facts for all specs of a run: the platform, and the version that tags the agent images."""

    platform: Platform
    version: str

    @property
    def agents_report_phase(self) -> bool:
        """Return whether agents also write phase and conditions, since no reporter runs."""
        return not self.platform.reporter


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of an object: its spec, and the spec's file if there is one."""

    spec: SpecId
    source: str = ""


@dataclass(frozen=True, slots=True)
class SecretName:
    """Secret by namespace and name. Its content is never known here."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier of a node's cache: host directories, and their size in MiB (0 if not given)."""

    directories: tuple[str, ...]
    size_mib: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Placement of pods, as plain Kubernetes values."""

    node_affinity: dict[str, Any] | None = None
    tolerations: tuple[dict[str, Any], ...] = ()
    node_selector: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Remote storage without credentials, and the Secret that holds them."""

    uri: str
    secret: SecretName


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim that holds a dataset, with the directory inside; the template if the claim must be created."""

    name: str
    sub_path: str = ""
    template: dict[str, Any] | None = None


class CachedDataset(NamedTuple):
    """Dataset in a volume, cached on nodes if its driver caches."""

    origin: Origin
    names: SampleSetNames
    driver: str
    claim: Claim
    volume_secret: SecretName
    partitions: int
    tiers: tuple[Tier, ...]
    placement: Placement
    options: MountOptions
    source: Source | None
    warmed: bool = False
    """True if a warmup follows its sync."""
    run: str = ""
    """User's run marker, which is part of the hash of all Jobs."""


class DataTask(NamedTuple):
    """One operation on a dataset, by a single Job or by one Job per cache pod.

    `namespace` is the namespace of its pods: that of the Secret for a sync, which needs no mount. `stems` are the names
    of its Jobs without their hash, one per partition or a single one. `paths` are relative to the dataset's root.
    """

    origin: Origin
    operation: Operation
    dataset: CachedDataset
    namespace: str
    stems: tuple[str, ...]
    configuration_stem: str
    source: Source | None = None
    destination: str = ""
    sync_options: SyncOptions = _NO_OPTIONS
    paths: tuple[str, ...] = ()
    file: str | None = None
    threads: int | None = None
    strategy: Literal["sequence", "random"] = "sequence"
    after: str | None = None
    schedule: str | None = None
    time_zone: str | None = None
    suspend: bool = False

    @property
    def partitioned(self) -> bool:
        return self.operation in ("warmup", "clear")

    @property
    def completes(self) -> bool:
        """Return whether the end of the task completes the dataset: it is the dataset's own or only sync."""
        own = self.origin == self.dataset.origin or self.dataset.source is None
        return self.operation == "sync" and own


class Transfer(NamedTuple):
    """Copy between a claim and a remote side, by one Job or on a schedule.

    `component` names its container and its role; `stem` is the name of its Job and `configuration_stem` that of its
    ConfigMap, both without their hashes; `account` is its ServiceAccount. `env` is in an order in which every reference
    is to an earlier variable. `certificates` is the source of a volume, `resources` and `security` are plain Kubernetes
    values. `attempt_seconds` limits one pod, `total_seconds` all pods together.
    """

    origin: Origin
    component: str
    stem: str
    configuration_stem: str
    account: str
    agent: Literal["git", "transfer"]
    config: TransferConfig
    claim: str
    env: tuple[dict[str, Any], ...]
    resources: dict[str, Any]
    backoff_limit: int
    attempt_seconds: int | None
    total_seconds: int | None
    placement: Placement
    security: Mapping[str, Any] = _NONE
    certificates: dict[str, Any] | None = None
    read_only: bool = False
    schedule: str | None = None
    time_zone: str | None = None
    suspend: bool = False
