"""Settings that a platform team chooses for all specs of a repository, or of one of its environments."""

from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.meta import Digest, DnsLabel, Model
from stowplan.schema.platform.argocd import ArgoCD
from stowplan.schema.platform.engines import Accelerator, Engines, Mxnet, Paddle
from stowplan.schema.platform.network import Network
from stowplan.schema.platform.pod_grants import PodLevel
from stowplan.schema.platform.policy import Policy
from stowplan.schema.platform.profiles import Profiles

KUBERNETES_VERSIONS = ("1.35", "1.36", "1.37")
"""Minor versions that the Kubernetes project supports, oldest first: https://kubernetes.io/releases/."""


class Digests(Model):
    """Digests of the agent images, `sha256:...`."""

    cache: Digest | None = Field(default=None, description="Of the image that caches, syncs and warms up datasets.")
    control: Digest | None = Field(default=None, description="Of the image that waits and reports.")
    git: Digest | None = Field(default=None, description="Of the image that copies Git repositories.")
    transfer: Digest | None = Field(default=None, description="Of the image that copies between object storages.")


class Images(Model):
    """Where the agent images are."""

    registry: str | None = Field(
        default=None,
        description="Registry and path of the agent images, such as `registry.example.com/ml`. Without it, images are named `local/stowplan-<agent>`.",
        max_length=200,
    )
    tag: str | None = Field(
        default=None,
        description="Tag of the agent images. Without it, the version of Stowplan.",
        max_length=128,
    )
    digests: Digests = Field(
        default=Digests.model_construct(),
        description="Digests of the agent images, by agent. They take precedence over `tag`.",
    )
    require_digests: bool = Field(
        default=False, description="Refuse to compile agent images without a digest. Without it, a tag is enough."
    )


class Amounts(Model):
    """Amounts of CPU and memory, as Kubernetes quantities."""

    cpu: str = Field(description="CPU, such as `500m`.", max_length=32)
    memory: str = Field(description="Memory, such as `1Gi`.", max_length=32)


class Resources(Model):
    """Requests and limits of one container."""

    requests: Amounts = Field(description="Reserved amounts.")
    limits: Amounts = Field(description="Maximum amounts.")


class AgentResources(Model):
    """Requests and limits of the agents."""

    runtime: Resources = Field(
        default=Resources(requests=Amounts(cpu="50m", memory="128Mi"), limits=Amounts(cpu="500m", memory="512Mi")),
        description="The cache agent that runs on each cache node.",
    )
    task: Resources = Field(
        default=Resources(requests=Amounts(cpu="500m", memory="1Gi"), limits=Amounts(cpu="4", memory="4Gi")),
        description="Agents that sync, warm up, remove and clear.",
    )
    control: Resources = Field(
        default=Resources(requests=Amounts(cpu="10m", memory="48Mi"), limits=Amounts(cpu="200m", memory="128Mi")),
        description="Agents that wait and report.",
    )


class JuiceFS(Model):
    """The JuiceFS installation."""

    edition: Literal["community"] = Field(
        default="community", description="Edition of the client. Only `community` is supported."
    )
    client_version: Literal["1.2", "1.3", "1.4"] = Field(
        default="1.3",
        description="Version of the JuiceFS client in the CSI driver and the cache agent. Newer options are refused.",
    )
    csi_driver: str = Field(default="csi.juicefs.com", description="Name of the CSI driver.", max_length=63)
    csi_namespace: DnsLabel = Field(
        default="kube-system",
        description="Namespace that the CSI driver runs in. Specs may not be there, unless `policy.namespaces` lists it.",
    )
    task_user: Literal[0, 65532] = Field(
        default=65532,
        description="User id of task pods. 0 is for volumes whose files the old privileged runtime wrote as root; their namespace must then allow it.",
    )
    cache_size: int = Field(
        default=4096,
        gt=0,
        description="Size in MiB of a node's cache when a SampleSet gives none. The default fits into the 5 GiB memory limit of the CSI driver's mount pods.",
    )
    cache_directories: list[Annotated[str, Field(max_length=4096)]] = Field(
        default_factory=list,
        description="Directories of nodes, such as `/data`, that hold all caches: a SampleSet may use them and the directories below. Without any, all except system directories such as `/etc` or `/var/lib/kubelet`. A cache in `memory` uses none.",
        max_length=64,
    )
    warmup_after_sync: bool = Field(
        default=True,
        description="Load a dataset into the caches of all its nodes after each sync: that of its SampleSet, and those of SampleJobs.",
    )
    warmup_threshold: int = Field(
        default=95,
        ge=0,
        le=100,
        description="Percent of a partition's bytes that must be cached for a warmup to succeed. Of a dataset that is larger than its caches, a warmup loads what fits, and the condition `CacheTooSmall` says so.",
    )
    placement: Literal["preferred", "required"] = Field(
        default="preferred",
        description="Whether training pods should or must run on nodes that cache their dataset. A job may say otherwise by the annotation `stowplan.dev/cache-placement`.",
    )
    task_deadline_seconds: int = Field(
        default=86400,
        gt=0,
        description="Seconds after which a warmup, a clear or a scheduled task is given up, including the wait for its node. A warmup that follows a sync has no limit.",
    )


class Namespaces(Model):
    """Whether namespaces are part of the output."""

    emit: bool = Field(
        default=False,
        description="Write a Namespace for each namespace that specs use, except `default` and `kube-*`.",
    )
    pod_security: PodLevel = Field(
        default="restricted", description="Pod Security level that these Namespaces enforce."
    )


class GroupKind(Model):
    """A kind of Kubernetes object."""

    group: str = Field(default="", description="API group; empty for the core group.", max_length=253)
    kind: str = Field(description="Kind, such as `ConfigMap`.", max_length=63)
    cluster_scoped: bool = Field(default=False, description="True when objects of this kind have no namespace.")


class Extension(Model):
    """A Python file with constructs of your own."""

    path: str = Field(
        description="Path of the file in this repository. It defines `build(app, program)`.", max_length=512
    )
    kinds: list[GroupKind] = Field(
        default_factory=list,
        description="Kinds that the extension adds, beyond those that Stowplan writes itself.",
        max_length=64,
    )


class Settings(Model):
    """What a platform team decides for all specs of a repository, or of one of its environments."""

    kubernetes_version: Literal["1.35", "1.36", "1.37"] = Field(
        default="1.36",
        description="Minor version of the cluster; objects are checked against its official schemas. Without it, the newest but one that Stowplan knows.",
    )
    default_namespace: DnsLabel = Field(default="default", description="Namespace of specs that name none.")
    names: Literal["namespaced", "upstream"] = Field(
        default="namespaced",
        description="`upstream` keeps the object names, labels and storage class of paddle-operator, so that existing claims are adopted.",
    )
    reporter: bool = Field(
        default=True,
        description="Whether a small Deployment in each namespace of specs reports on them: phases, counts, conditions and reasons, also problems that no agent can report, such as a lost node. It may read Jobs, JobSets, StatefulSets, pods and Stowplan's kinds there, and write only the status of the latter. Without it, training jobs have no status, and agents report their own phases.",
    )
    images: Images = Field(default=Images.model_construct(), description="Where the agent images are.")
    resources: AgentResources = Field(
        default=AgentResources.model_construct(), description="Requests and limits of the agents."
    )
    juicefs: JuiceFS = Field(default=JuiceFS.model_construct(), description="The JuiceFS installation.")
    engines: Engines = Field(
        default=Engines.model_construct(), description="The job controllers and schedulers that the cluster has."
    )
    paddle: Paddle = Field(default=Paddle.model_construct(), description="Defaults of Paddle jobs.")
    mxnet: Mxnet = Field(default=Mxnet.model_construct(), description="Defaults of MXNet jobs.")
    accelerators: dict[str, Accelerator] = Field(
        default_factory=dict,
        max_length=64,
        description="What containers of MXNet jobs get that ask for a device, by the name of the resource.",
    )
    profiles: Profiles = Field(
        default=Profiles.model_construct(), description="Devices and networks that a Training names."
    )
    argocd: ArgoCD = Field(default=ArgoCD.model_construct(), description="How Argo CD finds and syncs the output.")
    policy: Policy = Field(default=Policy.model_construct(), description="What is refused, and what only warned about.")
    namespaces: Namespaces = Field(
        default=Namespaces.model_construct(), description="Whether namespaces are part of the output."
    )
    network: Network = Field(default=Network.model_construct(), description="What agents may reach.")
    extensions: list[Extension] = Field(
        default_factory=list, description="Python files with constructs of your own.", max_length=64
    )
    pass_through: list[GroupKind] = Field(
        default_factory=list,
        description="Kinds of plain Kubernetes objects that may be among the specs. They are written unchanged, but a missing namespace is added, and to custom resources Argo CD's option `SkipDryRunOnMissingResource=true`.",
        max_length=64,
    )
