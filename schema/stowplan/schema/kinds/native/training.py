"""`Training`: a training job on one or more nodes, with torch, JAX, XGBoost, Paddle or any other program."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from stowplan.schema.forms import PROCESSES
from stowplan.schema.frameworks import FrameworkName
from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.kinds.kubernetes_shapes import EnvVar, Resources
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
from stowplan.schema.kinds.native.training_status import TrainingStatus
from stowplan.schema.meta import PATCH, Int32, KubernetesType, Model

_CORE = "io.k8s.api.core.v1"
TrainerEnvFrom = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.EnvFromSource")]
TrainingTemplate = Annotated[dict[str, Any], KubernetesType(f"{PATCH}{_CORE}.PodTemplateSpec")]

TRAINER = "trainer"
"""Name of the container that trains, which `template` may name to change it."""

ROLE = "node"
"""Role of all pods of a Training."""


class TrainingSpec(Model):
    """The program, its data, and its nodes."""

    framework: FrameworkName = Field(
        description='By which variables the processes find each other. `none` sets only `STOWPLAN_*`, from which any launcher can be started. With `jax` the program begins with `jax.distributed.initialize(num_processes=int(os.environ["JAX_NUM_PROCESSES"]), process_id=int(os.environ["JAX_PROCESS_ID"]))`, since JAX reads the address alone; with `xgboost` the program with `os.environ["DMLC_TASK_ID"] == "0"` starts `tracker = RabitTracker(n_workers=int(os.environ["DMLC_NUM_WORKER"]), host_ip=os.environ["DMLC_TRACKER_URI"], port=int(os.environ["DMLC_TRACKER_PORT"]), sortby="task"); tracker.start()`, and all train in `with CommunicatorContext(dmlc_tracker_uri=os.environ["DMLC_TRACKER_URI"], dmlc_tracker_port=int(os.environ["DMLC_TRACKER_PORT"]), dmlc_task_id=os.environ["DMLC_TASK_ID"], dmlc_retry=30):`.'
    )
    image: str = Field(
        description="Image of the trainer. Its user must not be root, unless `template` or the platform's `policy.fillSecurityContext` says otherwise.",
        min_length=1,
        max_length=512,
    )
    command: list[str] | None = Field(
        default=None,
        description="Program and its arguments, such as `[torchrun, train.py]`. Without it, the image's. `$(NAME)` is replaced by a variable.",
    )
    args: list[str] | None = Field(default=None, description="Arguments of the program. Without it, the image's.")
    env: list[EnvVar] | None = Field(
        default=None, description="Environment variables: Kubernetes' type. Those that Stowplan sets are refused."
    )
    env_from: list[TrainerEnvFrom] | None = Field(
        default=None, description="ConfigMaps and Secrets whose keys become variables: Kubernetes' type."
    )
    num_nodes: Int32 = Field(
        default=1,
        ge=1,
        le=5000,
        description="Number of nodes: each runs one pod. An elastic job changes to another number while it runs; with Kueue, only when it is admitted again.",
    )
    num_proc_per_node: str | None = Field(
        default=None,
        pattern=PROCESSES,
        max_length=4,
        description="Processes on each node: a number in quotes, `gpu` for one for each GPU, `cpu` for one for each whole CPU, or `auto` for one for each GPU, and one without GPUs. Limits of the trainer count, and requests where it has no limit. Without it, `auto`.",
    )
    resources_per_node: Resources | None = Field(
        default=None, description="Requests and limits of the trainer on each node: Kubernetes' type."
    )
    shm_size: str | None = Field(
        default=None, max_length=32, description="Size of `/dev/shm`, such as `16Gi`. It counts as memory of the pod."
    )
    network: str | None = Field(
        default=None, max_length=63, description="A network of the platform's `profiles.networks`."
    )
    accelerator: str | None = Field(
        default=None, max_length=63, description="A device of the platform's `profiles.accelerators`."
    )
    code: TrainingCode | None = Field(
        default=None, description="Code from Git that is fetched before the trainer starts."
    )
    datasets: list[TrainingDataset] | None = Field(
        default=None, max_length=32, description="Datasets that every pod mounts: training data and models."
    )
    checkpoints: Checkpoints | None = Field(
        default=None, description="Where the job saves its state, and finds it when it continues."
    )
    outputs: list[Output] | None = Field(
        default=None,
        max_length=16,
        description="Files that are copied away after the job: to an S3 store, a Hugging Face Hub, a Git repository or another claim. The job is `Succeeded` when they are copied. A copy that fails is tried again by itself.",
    )
    restart: Restart | None = Field(
        default=None,
        description="When the whole job starts again after a failure. Needs JobSet 0.10 or later (`engines.jobs: jobset`). The variable `STOWPLAN_ATTEMPT` counts the starts from 0. `activeDeadlineSeconds` counts for each attempt; with Kueue for all together.",
    )
    elastic: Elastic | None = Field(default=None, description="Lets the job run with fewer or more nodes.")
    run_after: list[RunAfter] | None = Field(
        default=None,
        max_length=16,
        description="Specs of the same namespace that must be done first. Until then the job is held back, and holds no nodes, devices or quota.",
    )
    scheduling: Scheduling | None = Field(default=None, description="Where and when the job runs.")
    active_deadline_seconds: Int32 | None = Field(
        default=None,
        ge=1,
        description="Seconds after which the job is stopped and fails. Kueue gets this limit too, and counts what the job ran before an interruption with it. Where Kueue's ends first, it suspends the job for good, which then does not fail: its phase is `Pending`. Without it, no limit.",
    )
    suspend: bool | None = Field(default=None, description="Stop the job, or hold it back, until this is false again.")
    template: TrainingTemplate | None = Field(
        default=None,
        description="Further fields of the pods: a Kubernetes PodTemplateSpec, which is merged into the compiled one as `kubectl patch` does. The container that trains is `trainer`.",
    )


class Training(CustomResource):
    """A training job on one or more nodes."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("FRAMEWORK", ".spec.framework"),
        Column("PHASE", ".status.phase"),
        Column("NODES", ".status.nodesReady"),
        AGE,
    )
    STATUS: ClassVar[type[Model]] = TrainingStatus
    AFTER: ClassVar[tuple[str, ...]] = ("spec", "runAfter")
    OUTSIDE_RUN: ClassVar[tuple[tuple[str, ...], ...]] = (("outputs",),)
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        "spec.outputs[].to": editor_rules.ONE,
        "spec.outputs[].to.claim.name": editor_rules.SUBDOMAIN,
        **{f"spec.outputs[].to.{kind}.secretRef.name": editor_rules.SUBDOMAIN for kind in ("s3", "huggingface", "git")},
        "spec.code.git.secretRef.name": editor_rules.SUBDOMAIN,
        "spec.datasets[].name": editor_rules.SUBDOMAIN,
        "spec.checkpoints.claim": {"oneOf": [editor_rules.needs("name"), editor_rules.needs("template")]},
        "spec.checkpoints.claim.name": editor_rules.SUBDOMAIN,
        "spec.scheduling.topology": editor_rules.ONE,
    }

    api_version: Literal["stowplan.dev/v1alpha1"] = Field(description="Version of this kind.")
    kind: Literal["Training"] = Field(description="Always `Training`.")
    spec: TrainingSpec = Field(description="The program, its data, and its nodes.")
