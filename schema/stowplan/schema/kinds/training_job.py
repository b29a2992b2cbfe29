"""`TrainingJob`: fault-tolerant and elastic training with PaddlePaddle, as Baidu's operator ran it."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.kinds.kubernetes_shapes import Resources
from stowplan.schema.kinds.training_job_status import TrainingJobStatus
from stowplan.schema.meta import KubernetesType, Model

_CORE = "io.k8s.api.core.v1"
Volume = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.Volume")]
VolumeMount = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.VolumeMount")]
JobToleration = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.Toleration")]
Probe = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.Probe")]
PullSecret = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.LocalObjectReference")]


class FrameWork(Model):
    """What kind of training it is. Overrides `local_job` and `is_nccl`."""

    name: str | None = Field(default=None, description="`paddle` or `tensorflow`.")
    type: str | None = Field(
        default=None,
        description="`local` for one trainer, `nccl2` for trainers that reduce among themselves, `multi` for parameter servers and trainers.",
    )


class JobAnnotations(Model):
    """Wishes about scheduling."""

    usergroupid: str | None = Field(default=None, description="No effect; it was never read.")
    userid: str | None = Field(default=None, description="No effect; it was never read.")
    priority: str | None = Field(
        default=None, description="Label `priority` of all pods; with a gang engine also the PriorityClass of the job."
    )
    scheduler: str | None = Field(default=None, description="Scheduler of all pods, instead of `schedulerName`.")
    walltime: int | None = Field(
        default=None,
        description="Seconds after which the trainers are ended and the job fails, from when their Job is created or, with Kueue, admitted. 0 for no limit.",
    )


class JobRole(Model):
    """What is common to the pods of all roles."""

    resources: Resources | None = Field(default=None, description="Requests and limits: Kubernetes' type.")
    image_pull_secrets: list[PullSecret] | None = Field(
        default=None, description="Secrets that images are pulled with."
    )
    envs: dict[str, str] | None = Field(
        default=None, description="Environment variables. They take precedence over those of the job."
    )
    grace_period_seconds: int | None = Field(
        default=None, alias="grace_period_seconds", description="Seconds between SIGTERM and SIGKILL when a pod ends."
    )
    pre_stop_cmd: list[str] | None = Field(
        default=None, alias="pre_stop_cmd", description="Command that is run in the container before it ends."
    )
    tolerations: list[JobToleration] | None = Field(default=None, description="Taints that the pods tolerate.")
    node_selector: dict[str, str] | None = Field(
        default=None, alias="node_selector", description="Labels of the nodes that the pods may run on."
    )
    liveness_probe: Probe | None = Field(
        default=None, alias="liveness_probe", description="When the container is started again: Kubernetes' type."
    )
    readiness_probe: Probe | None = Field(
        default=None, alias="readiness_probe", description="When the container is ready: Kubernetes' type."
    )


class MasterRole(JobRole):
    """The master, which deals out tasks."""

    etcd_endpoint: str | None = Field(
        default=None,
        alias="etcd-endpoint",
        description="An etcd of your own, such as `http://etcd:2379`. Without it, one runs in the pod of the master.",
    )


class ServerRole(JobRole):
    """The parameter servers."""

    entrypoint: str | None = Field(
        default=None, description="Command line, split as a shell does. Without it, the image's own."
    )
    min_instance: int | None = Field(default=None, alias="min-instance", description="Number of pods.")
    max_instance: int | None = Field(
        default=None, alias="max-instance", description="Largest number of pods. Only trainers are elastic."
    )


class TrainerRole(ServerRole):
    """The trainers."""

    workspace: str | None = Field(default=None, description="Directory that the entrypoint is run in.")
    etcd_endpoint: str | None = Field(
        default=None, alias="etcd-endpoint", description="No effect; it was never read here."
    )


class TrainingJobSpec(Model):
    """The roles and what they share."""

    image: str | None = Field(default=None, description="Image of all roles. Default `paddlepaddle/paddlecloud-job`.")
    host_network: bool | None = Field(
        default=None, alias="host_network", description="Put roles that open ports on the network of their nodes."
    )
    port: int | None = Field(default=None, description="First port of the parameter servers. Default 7164.")
    ports_num: int | None = Field(default=None, alias="ports_num", description="Ports for dense updates. Default 1.")
    ports_num_for_sparse: int | None = Field(
        default=None, alias="ports_num_for_sparse", description="Ports for sparse updates. Default 1."
    )
    trainer_port: int | None = Field(
        default=None, alias="trainer_port", description="First port of trainers that open ports of their own."
    )
    trainer_ports_num: int | None = Field(
        default=None, alias="trainer_ports_num", description="Number of these ports. Default 0."
    )
    fault_tolerant: bool | None = Field(
        default=None,
        alias="fault_tolerant",
        description="Tasks are dealt out by a master, so trainers may fail or come later.",
    )
    local_job: bool | None = Field(
        default=None, alias="local_job", description="A single trainer. Ignored if `frame_work` is given."
    )
    is_nccl: bool | None = Field(
        default=None,
        alias="is_nccl",
        description="Trainers without parameter servers. Ignored if `frame_work` is given.",
    )
    frame_work: FrameWork | None = Field(default=None, alias="frame_work", description="What kind of training it is.")
    passes: int | None = Field(default=None, description="Passes over the data. Default 1.")
    volumes: list[Volume] | None = Field(default=None, description="Volumes of all pods: Kubernetes' type.")
    volume_mounts: list[VolumeMount] | None = Field(
        default=None, alias="VolumeMounts", description="Where all containers mount them: Kubernetes' type."
    )
    mountpath: str | None = Field(default=None, description="No effect; it was never read.")
    nfsmount: str | None = Field(default=None, description="No effect; it was never read.")
    annotations: JobAnnotations | None = Field(default=None, description="Wishes about scheduling.")
    scheduler_name: str | None = Field(default=None, description="Scheduler of all pods.")
    pod_group_name: str | None = Field(
        default=None, description="A PodGroup of your own that all pods belong to. Not used with a gang engine."
    )
    matrix: bool | None = Field(default=None, description="No effect any more.")
    master: MasterRole | None = Field(default=None, description="The master, which only `fault_tolerant` jobs have.")
    pserver: ServerRole | None = Field(default=None, description="The parameter servers.")
    trainer: TrainerRole | None = Field(default=None, description="The trainers. The job is done when they are.")


class TrainingJob(CustomResource):
    """Training with PaddlePaddle: one trainer, trainers alone, or with parameter servers; fault-tolerant and elastic.

    Replaces the kind of Baidu's paddle-on-k8s-operator.
    """

    FOLDED_KEYS: ClassVar[bool] = True
    SHORT_NAMES: ClassVar[tuple[str, ...]] = ("tj",)
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("PHASE", ".status.phase"),
        Column("TRAINERS", ".status.trainers"),
        Column("PSERVERS", ".status.pservers"),
        Column("FULFILLMENT", ".status.fulfillment"),
        AGE,
    )
    STATUS: ClassVar[type[Model]] = TrainingJobStatus
    OLD_VERSIONS: ClassVar[Mapping[str, str]] = {"paddlepaddle.org/v1": "paddlepaddle.org/v1alpha1"}
    OUTPUTS: ClassVar[tuple[tuple[str, ...], ...]] = tuple(
        ("spec", role, key) for role in ("master", "pserver", "trainer") for key in ("replicaSpec", "index_succeed")
    )
    MOVED: ClassVar[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
        (("spec", "trainer", "passes"), ("spec", "passes")),
    )
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        **{f"spec.{field}": {"minimum": 0} for field in ("ports_num", "trainer_ports_num")},
        **{f"spec.{role}.min-instance": editor_rules.PODS for role in ("trainer", "pserver")},
        "spec.frame_work": editor_rules.needs("type"),
        "spec.frame_work.type": {"enum": ["local", "multi", "nccl2"]},
        "spec.trainer.grace_period_seconds": {"minimum": 0},
    }

    api_version: Literal["paddlepaddle.org/v1alpha1"] = Field(description="Version of this kind.")
    kind: Literal["TrainingJob"] = Field(description="Always `TrainingJob`.")
    spec: TrainingJobSpec = Field(description="The roles and what they share.")
