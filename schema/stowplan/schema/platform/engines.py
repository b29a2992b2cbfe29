"""Platform settings about training jobs."""

from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.agents.peers import DEFAULT_TIMEOUT
from stowplan.schema.forms import KUEUE_VERSION
from stowplan.schema.meta import DnsLabel, Model

JobEngineName = Literal["core", "jobset"]
"""The job engines; each is a module of `stowplan.library.engines`."""

GangEngineName = Literal["none", "volcano", "coscheduling", "kueue"]
"""The gang engines; each is a module of `stowplan.library.engines.gang`."""

FIRST_HOST_PORT = 35000
LAST_HOST_PORT = 65000
"""First and last port of the old operator's `--port-range`, from which jobs on the host network take their ports."""


class Engines(Model):
    """The job controllers and schedulers that the cluster has."""

    jobs: JobEngineName = Field(
        default="core",
        description="What training jobs compile to: `core` for Jobs of Kubernetes itself, `jobset` for one JobSet.",
    )
    gang: GangEngineName = Field(default="none", description="What starts all pods of a training job together or none.")
    queue: DnsLabel | None = Field(
        default=None,
        description="Queue of jobs that name none: a LocalQueue of Kueue, or a Queue of Volcano.",
    )
    scheduler: str = Field(
        default="scheduler-plugins-scheduler",
        description="Name of the scheduler that has the coscheduling plug-in.",
        max_length=63,
    )
    helper_timeout_seconds: int = Field(
        default=300,
        ge=1,
        le=86400,
        description="With `core`: seconds for which the port of a parameter server may be closed after it was open, before its job fails.",
    )
    helpers_must_listen: bool = Field(
        default=False,
        description="With `core`: whether a parameter server that never opens its port fails its job too, after `helperTimeoutSeconds`. By default such a server may take any time to load, or listen elsewhere.",
    )
    kueue_version: str = Field(
        default="0.19",
        pattern=KUEUE_VERSION,
        max_length=16,
        description="With `gang: kueue`: version of Kueue, such as `0.19`. From 0.19 on, jobs that wait for a dataset are not admitted before it is ready, by Kueue's admission gates. Before, their pods wait, and reserve their quota.",
    )
    kueue_admission_gates: bool = Field(
        default=True,
        description="With `gang: kueue`: false if the feature `AdmissionGatedBy` of Kueue is switched off. Pods of jobs that wait for a dataset then wait themselves, and reserve their quota.",
    )
    peers_timeout_seconds: int = Field(
        default=DEFAULT_TIMEOUT,
        ge=1,
        le=604800,
        description="Seconds that a pod of a training job waits until all pods of the job have addresses. Then the pod fails. Without a gang engine, pods that wait occupy their resources.",
    )


class HostPorts(Model):
    """A range of ports."""

    first: int = Field(default=FIRST_HOST_PORT, description="First port.", ge=1024, le=65535)
    last: int = Field(default=LAST_HOST_PORT, description="Last port.", ge=1024, le=65535)


class Paddle(Model):
    """Defaults of Paddle jobs."""

    base_port: int = Field(
        default=36000,
        ge=1024,
        le=65516,
        description="First of the 20 ports that each pod of a Paddle job may use. paddle-operator before 0.3.3 had 2379.",
    )
    elastic_servers: list[Annotated[str, Field(max_length=253)]] = Field(
        default_factory=list,
        max_length=16,
        description="Endpoints of the etcd for the rendezvous of elastic Paddle jobs, such as `etcd.ml:2379`. Paddle takes one, so jobs get the first. Images of these jobs need the packages `etcd3` and `grpcio==1.54.3`, and the variable PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python.",
    )
    elastic_launcher: Literal["legacy", "modern"] = Field(
        default="modern",
        description="Launcher whose variables elastic Paddle jobs get: `modern` for Paddle 2.3 and later, `legacy` for images with 2.1 or 2.2 alone. With `legacy`, each pod of a later release would train alone.",
    )
    etcd_image: str = Field(
        default="quay.io/coreos/etcd:v3.5.15",
        max_length=512,
        description="Image of the etcd in the pod of the master of fault-tolerant TrainingJobs.",
    )
    host_ports: HostPorts = Field(
        default=HostPorts.model_construct(), description="Ports that jobs with `intranet: Host` take their blocks from."
    )


class AcceleratorVolume(Model):
    """A directory of the node that a device needs."""

    name: DnsLabel = Field(description="Name of the volume.")
    host_path: str = Field(description="Directory of the node.", max_length=4096)
    mount_path: str = Field(description="Where the container finds it.", max_length=4096)


class AcceleratorVariable(Model):
    """An environment variable that a device needs."""

    name: str = Field(description="Its name.", max_length=253)
    value: str = Field(description="Its value.", max_length=32768)


class Accelerator(Model):
    """What a container gets that asks for a device: the controller configuration of the MXNet operator."""

    volumes: list[AcceleratorVolume] = Field(
        default_factory=list, max_length=32, description="Directories of the node."
    )
    env_vars: list[AcceleratorVariable] = Field(
        default_factory=list, max_length=64, description="Environment variables."
    )


class Mxnet(Model):
    """Defaults of MXNet jobs."""

    success: Literal["scheduler", "worker"] = Field(
        default="scheduler",
        description="Role whose success is that of a distributed job. The old operator used the scheduler.",
    )
