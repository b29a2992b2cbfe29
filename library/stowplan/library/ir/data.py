"""Values that the dialects pass to the builders. They do not depend on the kind of the spec.

The large ones are named tuples, which are created several times as fast as frozen dataclasses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from stowplan.library.values.names import DatasetNames
from stowplan.schema.agents.agent_config import DEFAULT_MAX_DELETE
from stowplan.schema.agents.transfer_config import TransferConfig
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.drivers.table import DRIVERS
from stowplan.schema.drivers.volume import VolumeBlock
from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.juicefs.sync_options import SyncOptions
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform
from stowplan.schema.remotes.remote import RemoteEndpoint

Operation = Literal["sync", "warmup", "rmr", "clear"]

_NO_OPTIONS = SyncOptions()
_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Site:
    """Facts for all specs: the platform, and the version of Stowplan, which is the default tag of the agent images."""

    platform: Platform
    version: str

    @property
    def agents_report_phase(self) -> bool:
        """Return whether the agents of specs also write phase and conditions. They do so if no reporter runs."""
        return not self.platform.reporter


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of an object: its spec, and the path of the spec's file, empty if there is none."""

    spec: SpecId
    source: str = ""


@dataclass(frozen=True, slots=True)
class SecretName:
    """Namespace and name of a Secret. The compiler never knows the content of a Secret."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier of a cluster node's cache: host directories, and their size in MiB (0 if not given)."""

    directories: tuple[str, ...]
    size_mib: int
    in_memory: bool = False
    """True if the spec says that the directories are in memory (`mediumType: MEM`)."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Fields of a pod that restrict its cluster nodes, as plain Kubernetes values; None or empty if not restricted."""

    node_affinity: dict[str, Any] | None = None
    tolerations: tuple[dict[str, Any], ...] = ()
    node_selector: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Remote:
    """Remote side of a transfer: its part of the agent's configuration, and the variables that this part names.

    `agent` is the image that can copy it. `keys` are the keys that its Secret must have.
    """

    endpoint: RemoteEndpoint
    env: tuple[dict[str, Any], ...] = ()
    agent: Literal["git", "transfer"] = "transfer"
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Remote storage: its URI without credentials, and the Secret that holds the credentials.

    The Secret's name is empty if there is none. `remote` is given if only the transfer agent can copy it; otherwise the
    driver reads the URI. `direct` is true if `juicefs sync` copies it into any volume, also into a claim. `max_delete`
    is the maximum number of files to delete when the source moves. `include` and `exclude` are patterns of the keys
    that `juicefs sync` copies; None for all.
    """

    uri: str
    secret: SecretName
    remote: Remote | None = None
    direct: bool = False
    max_delete: int = DEFAULT_MAX_DELETE
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DatasetFields:
    """Paths of fields in the spec of a dataset, for the findings of its driver.

    `options` is the path of the mount options, `tiers` that of the cache's tiers and `source` that of the source's URI.
    `size` is the field of a tier with its size, `sizes` the words for it in a hint.
    """

    options: FieldPath
    tiers: FieldPath
    source: FieldPath
    size: str
    sizes: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim that holds a dataset. `sub_path` is the dataset's directory in the claim, empty for the root.

    `template` is the template from which the claim is created; None if it must exist already.
    """

    name: str
    sub_path: str = ""
    template: dict[str, Any] | None = None


class CachedDataset(NamedTuple):
    """Dataset in a volume. Cluster nodes cache it if its driver does so.

    `driver` is the driver's name, `partitions` the number of cluster nodes that cache the dataset, 0 for none. `source`
    is None if no sync fills the dataset.
    """

    origin: Origin
    names: DatasetNames
    fields: DatasetFields
    driver: str
    claim: Claim
    volume_secret: SecretName
    partitions: int
    tiers: tuple[Tier, ...]
    placement: Placement
    options: MountOptions
    source: Source | None
    warmed: bool = False
    """True if a warmup follows its own sync."""
    warms: bool = False
    """True if a warmup follows each sync of it, also one of a SampleJob."""
    run: str = ""
    """The user's run marker, which is part of the hash of all Jobs."""
    warmup_paths: tuple[str, ...] = ()
    """Paths of the data that a warmup after a sync loads, relative to the root; empty for all."""
    labels: Mapping[str, str] = _NONE
    """Labels of its volume, its claim and its cache pods, besides those that every object has."""
    retained: bool = True
    """True if Argo CD never deletes the volume and the claim, even after the spec was removed."""
    volume: VolumeBlock | None = None
    """The block of the driver in `volume` of a Dataset; None for a SampleSet, which has none."""

    @property
    def cached(self) -> bool:
        """Whether nodes can cache the datasets of its driver, also if none caches this one (`partitions` is 0)."""
        return DRIVERS[self.driver].cached

    @property
    def directory(self) -> str:
        """The directory of the data in the volume or claim, empty for the root."""
        return self.options.sub_dir or self.claim.sub_path


class DataTask(NamedTuple):
    """One operation on a dataset, by a single Job or by one Job per cache pod.

    `namespace` is the namespace of the pods; for a JuiceFS sync, which needs no mount, it is that of the Secret.
    `stems` are the names of the Jobs without their hash, one per partition or a single one. `source` is that of a sync,
    `destination` the directory that it writes to. `paths` are what a warmup or `rmr` works on; `file` lists them for a
    warmup, None for no list. These paths are relative to the dataset's root; those of a `clear` are cache directories.
    `threads` is the number of downloads of a warmup at one time, None for the default. `after` is the stem of the sync
    Job that a warmup waits for, None for no waiting. `after_run` is the whole name of that Job, None if it ends as the
    name of the warmup's own Job. `schedule` is a cron expression, None for a single run.
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
    after_run: str | None = None
    schedule: str | None = None
    time_zone: str | None = None
    suspend: bool = False
    max_delete: int | None = None
    """Most files that a sync with `delete-dst` may delete; None for no limit. Only the transfer agent knows it."""
    resources: dict[str, Any] | None = None
    """Requests and limits of the container, as the field `resources` has them; None for those of the platform."""
    run_after: tuple[SpecId, ...] = ()
    """Specs that must be done first."""

    @property
    def partitioned(self) -> bool:
        """Whether the task has a Job for each cache pod."""
        return self.operation in ("warmup", "clear")

    @property
    def completes(self) -> bool:
        """Return whether the dataset is complete after this task; for a warmup after a sync, after that sync.

        That holds for the dataset's own first sync, and for any sync of a dataset whose spec has none. A refresh
        changes nothing: the dataset is complete before it, and remains so if the refresh fails.
        """
        first = self.origin == self.dataset.origin and self.schedule is None
        own = first or self.dataset.source is None
        return (self.operation == "sync" or self.after is not None) and own


class Transfer(NamedTuple):
    """Copy between a claim and a remote side or another claim, by one Job or on a schedule.

    `component` names its container and is the value of the label `app.kubernetes.io/component`. `stem` is the name of
    its Job and `configuration_stem` that of its ConfigMap, both without their hashes. `account` is its ServiceAccount.
    `claim` is the claim of the source or the sink; of two claims it is that of the sink, and `source_claim` is the
    other one, empty otherwise. In `env`, every reference is to an earlier variable. `certificates` is the source of a
    pod's volume, `resources` and `security` are fields of a container and a pod. `attempt_seconds` is the deadline of
    one pod, `total_seconds` that of all pods together; None means no deadline. `run_after` are specs that must be done
    first.
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
    source_claim: str = ""
    schedule: str | None = None
    time_zone: str | None = None
    suspend: bool = False
    run_after: tuple[SpecId, ...] = ()
