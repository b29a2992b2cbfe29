"""`DataCube`: copies data between a claim and a Git repository, a Hugging Face Hub or an S3 store."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from stowplan.schema.agents.left_out import LINKS, Links
from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource, TimeZone
from stowplan.schema.kinds.data_cube_status import DataCubeStatus
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.kinds.kubernetes_shapes import ClaimTemplate, EnvVar, Resources, Toleration
from stowplan.schema.meta import Int32, KubernetesType, Model
from stowplan.schema.remotes.registry import SIDES, RemoteBlocks, SideType

_CORE = "io.k8s.api.core.v1"
ConfigMapKey = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.ConfigMapKeySelector")]
SecretKey = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.SecretKeySelector")]
PodSecurityContext = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.PodSecurityContext")]

_REMOTES = ", ".join(f"`{name}`" for name in SIDES)


class ClaimReference(Model):
    """A claim in the namespace of the cube, and a place in it."""

    name: str | None = Field(default=None, description="Name of the claim. Must be given.")
    sub_path: str | None = Field(
        default=None,
        description="Path in the claim, without `/` at its beginning and without `..`. For a sink: a directory, which is created if it is missing. For a source: a file or directory; for Git, the parent of the repository's directory. Without it, the root.",
    )
    read_only: bool | None = Field(
        default=None,
        description="Mount a source read-only. The agent then stores no state in it, so a recreated Job compares all files again.",
    )
    links: Links | None = Field(default=None, description=f"Of a source. {LINKS}")
    template: ClaimTemplate | None = Field(
        default=None,
        description="The claim itself, written with the cube: `metadata` and `spec` of a PersistentVolumeClaim. Without it, the claim must be there.",
    )


class CaBundle(Model):
    """Certificates of the authorities that the remote side is trusted by, in one of two places."""

    config_map_key_ref: ConfigMapKey | None = Field(default=None, description="Key of a ConfigMap: Kubernetes' type.")
    secret_key_ref: SecretKey | None = Field(default=None, description="Key of a Secret: Kubernetes' type.")


class DataReference(RemoteBlocks):
    """One side of the transfer."""

    type: SideType = Field(description=f"{_REMOTES} or `pvc`. Exactly one side is `pvc`.")
    options: list[EnvVar] | None = Field(
        default=None,
        description="Location of the data, and access to it. Each option is an environment variable of the agent: `name` with `value` or `valueFrom`. `$(TOKEN)` in a value is replaced by the option `token`.",
    )
    pvc: ClaimReference | None = Field(default=None, description="The claim. Must be given for `pvc`.")
    ca_bundle: CaBundle | None = Field(
        default=None, description="Certificates to trust, for a remote side with a private certificate authority."
    )

    @cached_property
    def by_name(self) -> dict[str, dict[str, Any]]:
        """The options by name; of several options with one name, the last one."""
        return {str(each.get("name", "")): each for each in self.options or ()}


class ExecutorOptions(Model):
    """How the transfer is carried out."""

    sync: bool | None = Field(
        default=None, description="True also deletes in the claim what the source does not have. Only from `s3`."
    )
    allow_empty: bool | None = Field(
        default=None, description="With `sync`: delete everything if the source is empty, instead of failing."
    )
    max_delete: int | None = Field(
        default=None,
        ge=0,
        description="With `sync`: maximum number of files to delete. If more would be deleted, the transfer fails without deleting any.",
    )
    backoff_limit: Int32 | None = Field(
        default=None, ge=0, description="Number of retries after a failed attempt. Default 0."
    )
    active_deadline_seconds: Int32 | None = Field(
        default=None, ge=1, description="Seconds for each attempt. Without it, no limit."
    )
    total_deadline_seconds: int | None = Field(
        default=None,
        ge=1,
        description="Seconds for all attempts, including the wait for nodes and claims. Default: the time that `backoffLimit` and `activeDeadlineSeconds` need, plus one hour; seven days without `activeDeadlineSeconds`.",
    )
    extra_args: list[str] | None = Field(
        default=None,
        description="Flags of the old tools: huggingface-cli, rclone and git. Flags that a field replaces are understood, and flags that only concern the old tool are left out.",
    )
    parallelism: int | None = Field(default=None, ge=1, le=256, description="Number of parallel requests. Default 8.")
    part_size: str | None = Field(
        default=None, max_length=32, description="Size of the parts of a large file, such as `16Mi`, the default."
    )
    max_bytes_per_second: int | None = Field(
        default=None,
        ge=1 << 16,
        description="Maximum bytes per second of the whole transfer, such as 52428800 for 50 MiB. Not with `git`. With `huggingface`, files then come by HTTP instead of Xet. Without it, no limit.",
    )
    request_retries: int | None = Field(
        default=None, ge=0, le=100, description="Number of retries of one request. Default 5."
    )


class Executor(Model):
    """The pod that carries out the transfer."""

    options: ExecutorOptions | None = Field(default=None, description="How the transfer is carried out.")
    env: list[EnvVar] | None = Field(
        default=None,
        description="More environment variables: `*_PROXY`, `PROXY_*`, `HF_*`, `AWS_*`, `TZ`, `LANG` and `LC_*`, and those of the platform's `policy.executorEnv`. Kubernetes' type.",
    )
    security_context: PodSecurityContext | None = Field(
        default=None, description="User and groups of the pod: Kubernetes' type. It cannot run as root."
    )
    resources: Resources | None = Field(
        default=None, description="Requests and limits: Kubernetes' type. What is missing comes from the platform."
    )
    node_selector: dict[str, str] | None = Field(
        default=None, description="Labels of the nodes that the pod may run on."
    )
    tolerations: list[Toleration] | None = Field(
        default=None, description="Taints that the pod tolerates: Kubernetes Tolerations."
    )


class DataCubeSpec(Model):
    """Where from, where to, and how."""

    source: DataReference = Field(description="Where the data comes from.")
    sink: DataReference = Field(description="Where the data goes to.")
    executor: Executor | None = Field(default=None, description="The pod that carries out the transfer.")
    schedule: str | None = Field(
        default=None,
        max_length=256,
        description="Cron expression, such as `0 3 * * *`. With it, the transfer runs at these times; without it, once.",
    )
    time_zone: TimeZone = None


class DataCube(CustomResource):
    """Data copied between a claim and a Git repository, a Hugging Face Hub or an S3 store.

    Replaces the kind of the TensorStack platform.
    """

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("PHASE", ".status.phase"),
        Column("PROGRESS", ".status.progress"),
        Column("REVISION", ".status.revision"),
        AGE,
    )
    STATUS: ClassVar[type[Model]] = DataCubeStatus
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        "spec": {
            "allOf": [
                {
                    "if": {"properties": {"source": editor_rules.where("type", "pvc")}},
                    "then": {"properties": {"sink": {"properties": {"type": {"not": {"const": "pvc"}}}}}},
                    "else": {"properties": {"sink": {"properties": {"type": {"const": "pvc"}}}}},
                }
            ]
        },
        **{
            f"spec.{side}": {
                "if": editor_rules.where("type", "pvc"),
                "then": editor_rules.below("pvc", editor_rules.needs("name")),
            }
            for side in ("source", "sink")
        },
        **{
            f"spec.{side}.pvc.subPath": editor_rules.pattern("([^/].*)?", "A path in a claim does not begin with /.")
            for side in ("source", "sink")
        },
        "spec.schedule": editor_rules.SCHEDULE,
    }

    api_version: Literal["tensorstack.dev/v1beta1"] = Field(description="Version of this kind.")
    kind: Literal["DataCube"] = Field(description="Always `DataCube`.")
    spec: DataCubeSpec = Field(description="Where from, where to, and how.")
