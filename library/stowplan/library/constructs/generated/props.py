"""Props of the constructs: the fields of the specs. Generated: `make generate` writes this file anew."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from stowplan.schema.juicefs.sync_options import SyncOptions
from stowplan.schema.kinds.data_cube import DataReference, Executor
from stowplan.schema.kinds.mx_job import MxReplicaSpec
from stowplan.schema.kinds.native.dataset import DatasetCache, DatasetSource, DatasetVolume, Refresh
from stowplan.schema.kinds.native.dataset_task import CopyTask, DatasetName, EvictTask, RemoveTask, SyncTask, WarmupTask
from stowplan.schema.kinds.native.run_after import RunAfter
from stowplan.schema.kinds.native.training_parts import (
    Checkpoints,
    Elastic,
    Output,
    Restart,
    Scheduling,
    TrainingCode,
    TrainingDataset,
)
from stowplan.schema.kinds.paddle_job import DatasetMount, PaddleRole, SchedulingPolicy
from stowplan.schema.kinds.sample_job import ClearOptions, RmrOptions, WarmupOptions
from stowplan.schema.kinds.sample_set import Cache, Csi, Source
from stowplan.schema.kinds.training_job import FrameWork, JobAnnotations, MasterRole, ServerRole, TrainerRole
from stowplan.schema.meta import NamedReference, SecretReference


class DataCubeProps(TypedDict, total=False):
    """Fields of the spec of a DataCube."""

    source: DataReference | Mapping[str, Any]
    sink: DataReference | Mapping[str, Any]
    executor: Executor | Mapping[str, Any]
    schedule: str
    time_zone: str


class DatasetProps(TypedDict, total=False):
    """Fields of the spec of a Dataset."""

    source: DatasetSource | Mapping[str, Any]
    volume: DatasetVolume | Mapping[str, Any]
    cache: DatasetCache | Mapping[str, Any]
    refresh: Refresh | Mapping[str, Any]
    retain: bool


class DatasetTaskProps(TypedDict, total=False):
    """Fields of the spec of a DatasetTask."""

    dataset_ref: DatasetName | Mapping[str, Any]
    sync: SyncTask | Mapping[str, Any]
    warmup: WarmupTask | Mapping[str, Any]
    evict: EvictTask | Mapping[str, Any]
    remove: RemoveTask | Mapping[str, Any]
    copy_: CopyTask | Mapping[str, Any]
    schedule: str
    time_zone: str
    suspend: bool
    run_after: Sequence[RunAfter | Mapping[str, Any]]
    resources: Mapping[str, Any]


class MxJobProps(TypedDict, total=False):
    """Fields of the spec of a MxJob."""

    runtime_id: str
    job_mode: str
    replica_specs: Sequence[MxReplicaSpec | Mapping[str, Any]]


class PaddleJobProps(TypedDict, total=False):
    """Fields of the spec of a PaddleJob."""

    clean_pod_policy: str
    scheduling_policy: SchedulingPolicy | Mapping[str, Any]
    intranet: str
    with_gloo: int
    sample_set_ref: DatasetMount | Mapping[str, Any]
    ps: PaddleRole | Mapping[str, Any]
    worker: PaddleRole | Mapping[str, Any]
    heter: PaddleRole | Mapping[str, Any]
    elastic: int


class SampleJobProps(TypedDict, total=False):
    """Fields of the spec of a SampleJob."""

    type: Literal["sync", "warmup", "rmr", "clear"]
    sample_set_ref: NamedReference | Mapping[str, Any]
    secret_ref: SecretReference | Mapping[str, Any]
    terminate: bool
    schedule: str
    time_zone: str
    sync_options: SyncOptions | Mapping[str, Any]
    warmup_options: WarmupOptions | Mapping[str, Any]
    rmr_options: RmrOptions | Mapping[str, Any]
    clear_options: ClearOptions | Mapping[str, Any]


class SampleSetProps(TypedDict, total=False):
    """Fields of the spec of a SampleSet."""

    partitions: int
    source: Source | Mapping[str, Any]
    secret_ref: SecretReference | Mapping[str, Any]
    no_sync: bool
    warmup_after_sync: bool
    csi: Csi | Mapping[str, Any]
    cache: Cache | Mapping[str, Any]
    node_affinity: Mapping[str, Any]
    tolerations: Sequence[Mapping[str, Any]]


class TrainingProps(TypedDict, total=False):
    """Fields of the spec of a Training."""

    framework: Literal["torch", "jax", "xgboost", "paddle", "none"]
    image: str
    command: Sequence[str]
    args: Sequence[str]
    env: Sequence[Mapping[str, Any]]
    env_from: Sequence[Mapping[str, Any]]
    num_nodes: int
    num_proc_per_node: str
    resources_per_node: Mapping[str, Any]
    shm_size: str
    network: str
    accelerator: str
    code: TrainingCode | Mapping[str, Any]
    datasets: Sequence[TrainingDataset | Mapping[str, Any]]
    checkpoints: Checkpoints | Mapping[str, Any]
    outputs: Sequence[Output | Mapping[str, Any]]
    restart: Restart | Mapping[str, Any]
    elastic: Elastic | Mapping[str, Any]
    run_after: Sequence[RunAfter | Mapping[str, Any]]
    scheduling: Scheduling | Mapping[str, Any]
    active_deadline_seconds: int
    suspend: bool
    template: Mapping[str, Any]


class TrainingJobProps(TypedDict, total=False):
    """Fields of the spec of a TrainingJob."""

    image: str
    host_network: bool
    port: int
    ports_num: int
    ports_num_for_sparse: int
    trainer_port: int
    trainer_ports_num: int
    fault_tolerant: bool
    local_job: bool
    is_nccl: bool
    frame_work: FrameWork | Mapping[str, Any]
    passes: int
    volumes: Sequence[Mapping[str, Any]]
    volume_mounts: Sequence[Mapping[str, Any]]
    mountpath: str
    nfsmount: str
    annotations: JobAnnotations | Mapping[str, Any]
    scheduler_name: str
    pod_group_name: str
    matrix: bool
    master: MasterRole | Mapping[str, Any]
    pserver: ServerRole | Mapping[str, Any]
    trainer: TrainerRole | Mapping[str, Any]
