"""What a platform refuses, and what it only warns about."""

from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.forms import CODE, ENV_PATTERN
from stowplan.schema.meta import DnsLabel, Model
from stowplan.schema.platform.pod_grants import PodGrant, PodLevel


class SecretGrant(Model):
    """A pair of namespaces: specs of the one may name volume and source Secrets of the other."""

    spec_namespace: DnsLabel = Field(description="Namespace of the specs.")
    secret_namespace: DnsLabel = Field(description="Namespace of the Secrets.")


class Policy(Model):
    """What is refused, and what only warned about."""

    unknown_fields: Literal["error", "warn"] = Field(
        default="error",
        description="Severity of an unknown field in a spec. `warn` drops the field, as the old API server did.",
    )
    rerun: Literal["warn", "error"] = Field(
        default="warn",
        description="Severity of an edit that replaces a run. `error` requires a new value of the annotation `stowplan.dev/run`.",
    )
    removal: Literal["warn", "error"] = Field(
        default="warn", description="Severity of the removal of a claim or volume from the output."
    )
    pod_security: Literal["ignore", "warn", "error"] = Field(
        default="error",
        description="Severity of a training pod that the cluster would refuse because of the Pod Security level of a Namespace in the output. `podSecurityLevel` applies in any case.",
    )
    pod_security_level: PodLevel = Field(
        default="baseline",
        description="The most that pod templates of training jobs and of plain objects may ask for, in any namespace: a level of the Pod Security Standards. `privileged` allows everything.",
    )
    allow: list[PodGrant] = Field(
        default_factory=list,
        max_length=32,
        description="What pod templates may ask for beyond `podSecurityLevel`, one rule of the Pod Security Standards each, such as `hostNetwork` (with the host ports of these pods) or `hostPath`. `nodeName` lets a template choose its node without the scheduler, `networks` lets it join networks of Multus by annotations; those in `profiles.networks` need no entry.",
    )
    fill_security_context: bool = Field(
        default=True,
        description="Whether pods of Trainings get what the Pod Security level `restricted` asks for where the spec says nothing: no root user, no capabilities, no further privileges, the seccomp profile of the runtime. Without it, images that run as root work, in namespaces that allow it. Does not apply to the kinds of other systems.",
    )
    namespaces: list[DnsLabel] = Field(
        default_factory=list,
        max_length=256,
        description="Namespaces of the system that specs and plain objects may be in nevertheless: `kube-*`, `argocd.namespace` and `juicefs.csiNamespace` are refused without an entry here. Others need none.",
    )
    service_accounts: list[Annotated[str, Field(min_length=1, max_length=253)]] = Field(
        default_factory=list,
        max_length=256,
        description="The only service accounts that pod templates may name, besides `default`. Without any, all but those of Stowplan's own agents.",
    )
    priority_classes: list[Annotated[str, Field(min_length=1, max_length=253)]] = Field(
        default_factory=list,
        max_length=256,
        description="The only priority classes that jobs may name, those of Kueue included. Without any, all but `system-*`, which are always refused.",
    )
    pins: Literal["ignore", "warn", "require"] = Field(
        default="ignore",
        description="What is said of an image without a digest, and of a branch or tag in place of a commit, that `stowplan.lock` does not name: an error with `require`. What the file names is used in any case.",
    )
    quiet: list[Annotated[str, Field(pattern=CODE, max_length=5)]] = Field(
        default_factory=list,
        max_length=64,
        description="Codes of infos that no command prints, such as `SP536`. Warnings and errors cannot be silenced.",
    )
    cross_namespace_tasks: bool = Field(
        default=False,
        description="Let a sync run in the namespace of its Secret when that is not its SampleSet's. `crossNamespaceSecrets` must list the two namespaces.",
    )
    cross_namespace_secrets: list[SecretGrant] = Field(
        default_factory=list,
        description="Pairs of namespaces whose specs may use a Secret of another namespace: whoever may name the Secret of a volume can read, change and remove its data. Without any, `secretRef.namespace` is the spec's own.",
        max_length=256,
    )
    executor_env: list[Annotated[str, Field(pattern=ENV_PATTERN, max_length=128)]] = Field(
        default_factory=list,
        description="Names of variables that `executor.env` of a DataCube may set beyond those of proxies, `HF_*`, `AWS_*` and the locale, such as `RUST_LOG`; `RUST_*` allows all names that begin with `RUST_`. A variable such as `LD_PRELOAD` runs foreign code in the agent.",
        max_length=64,
    )
