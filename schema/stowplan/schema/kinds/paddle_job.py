"""`PaddleJob`: distributed training with PaddlePaddle."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from stowplan.schema.agents.wait_config import Until
from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.conditions import Conditions, Run
from stowplan.schema.kinds.custom_resource import Column, CustomResource
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.kinds.kubernetes_shapes import QUANTITY, PodTemplate
from stowplan.schema.meta import MOST_NODES, Int32, Model

HOST_PORT_ANNOTATION = "host-port"
"""Annotation of a PaddleJob with `intranet: Host`: the first port of its block. The old operator wrote it itself."""

ROLES = ("ps", "worker", "heter")
"""Fields of `spec` with roles, in the order in which roles take their ports on the host network."""

_DECIDERS = ("worker", "heter", "ps")


def decider(sizes: Mapping[str, int]) -> str | None:
    """Return the role whose success is the success of the job; None if no role has pods.

    `sizes` is the number of pods by role. As in the old operator, the first of worker, heter and ps that has pods is
    the decider; the others are helpers.
    """
    return next((role for role in _DECIDERS if sizes.get(role, 0) > 0), None)


class PaddleRole(Model):
    """The pods of one role."""

    replicas: int = Field(description="Number of pods.")
    template: PodTemplate | None = Field(
        default=None, description="The pods: a Kubernetes PodTemplateSpec. Its first container trains."
    )
    requests: int | None = Field(default=None, description="No effect; it had none in the old operator either.")
    limits: int | None = Field(default=None, description="No effect; it had none in the old operator either.")


class SchedulingPolicy(Model):
    """How the pods are scheduled together. Acts where the platform's `engines.gang` is set."""

    min_available: Int32 | None = Field(
        default=None, description="Pods that must fit at the same time. Without it, all of the job."
    )
    queue: str | None = Field(default=None, description="Queue of the job. Without it, the platform's.")
    priority_class: str | None = Field(default=None, description="PriorityClass of the job.")
    min_resources: dict[str, object] | None = Field(
        default=None,
        description="Resources that must be free at the same time. Without it, the sum of what the pods request.",
        json_schema_extra={"additionalProperties": QUANTITY},
    )


class DatasetWait(Model):
    """Holds the job back until the dataset is ready. `{}` is enough."""

    until: Until | None = Field(
        default=None,
        description="`synced`: the sync of the SampleSet is done. `warmed`: the warmup that follows it too, on all cache nodes. `mounted`: the volume can be read. Without it, `synced`, and `mounted` for a SampleSet with `noSync`.",
    )
    timeout_seconds: Int32 | None = Field(
        default=None,
        ge=1,
        description="Seconds after which the job fails. Without it there is no limit: the job holds no resources while it waits. Where pods wait themselves (`mounted`, a SampleSet with `noSync`, Kueue before 0.19), they occupy their resources that long; default 86400, a day.",
    )


class DatasetMount(Model):
    """A SampleSet that every pod mounts."""

    name: str | None = Field(default=None, description="Name of the SampleSet. Must be given.")
    namespace: str | None = Field(
        default=None, description="Namespace of the SampleSet; can only be that of the job, whose pods mount its claim."
    )
    mount_path: str = Field(description="Where the first container of each pod finds the dataset.")
    wait: DatasetWait | None = Field(
        default=None,
        description="Start nothing of the job before the dataset is ready. Without it, the pods start at once.",
    )


class PaddleJobSpec(Model):
    """The roles, and how they meet."""

    clean_pod_policy: str | None = Field(
        default=None,
        description="`Never`, `Always`, `OnFailure` or `OnCompletion`. Pods always stay as long as their Job: removed ones would train again.",
    )
    scheduling_policy: SchedulingPolicy | None = Field(default=None, description="How the pods are scheduled together.")
    intranet: str | None = Field(
        default=None,
        description="How the pods reach each other: `PodIP` (the default) and `Service` by DNS names, `Host` by the network of their nodes.",
    )
    with_gloo: int | None = Field(
        default=None,
        description="Gloo for jobs with parameter servers: 0 for none, 1 for workers, 2 for workers and servers.",
    )
    sample_set_ref: DatasetMount | None = Field(default=None, description="A dataset that every pod mounts.")
    ps: PaddleRole | None = Field(default=None, description="Parameter servers.")
    worker: PaddleRole | None = Field(default=None, description="Workers. The job is done when they are.")
    heter: PaddleRole | None = Field(default=None, description="Heterogeneous workers.")
    elastic: int | None = Field(
        default=None, description="Any number makes the job elastic: workers may come and go. Only for jobs of workers."
    )


class ObjectReference(Model):
    """A pod of a role."""

    api_version: str | None = Field(default=None, description="Version of its kind.")
    kind: str | None = Field(default=None, description="Its kind.")
    namespace: str | None = Field(default=None, description="Its namespace.")
    name: str | None = Field(default=None, description="Its name.")
    uid: str | None = Field(default=None, description="Its uid.")
    resource_version: str | None = Field(default=None, description="Its version in the API server.")
    field_path: str | None = Field(default=None, description="A part of it.")


class RoleStatus(Model):
    """The pods of one role, counted."""

    pending: int | None = Field(default=None, description="Pods that wait for a node or their images.")
    starting: int | None = Field(default=None, description="Pods whose containers are not all ready.")
    running: int | None = Field(default=None, description="Pods whose containers are all ready.")
    failed: int | None = Field(default=None, description="Pods that failed.")
    succeeded: int | None = Field(default=None, description="Pods that are done.")
    unknown: int | None = Field(default=None, description="Pods whose node does not answer.")
    refs: list[ObjectReference] | None = Field(default=None, description="The pods.")


class PaddleJobStatus(Model):
    """What was observed of the job."""

    phase: str | None = Field(
        default=None,
        description="`Pending`, `Starting`, `Running`, `Failed` or `Completed`.",
    )
    mode: str | None = Field(default=None, description="`PS`, `Collective` or `Single`.")
    ps: RoleStatus | None = Field(default=None, description="The parameter servers.")
    worker: RoleStatus | None = Field(default=None, description="The workers.")
    heter: RoleStatus | None = Field(default=None, description="The heterogeneous workers.")
    elastic: str | None = Field(default=None, description="Never set, also by the old operator.")
    start_time: str | None = Field(
        default=None, json_schema_extra={"format": "date-time"}, description="When all pods ran for the first time."
    )
    completion_time: str | None = Field(
        default=None, json_schema_extra={"format": "date-time"}, description="When the job completed or failed."
    )
    run: Run = None
    conditions: Conditions | None = Field(default=None, description="Standard conditions.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")


class PaddleJob(CustomResource):
    """Distributed training with PaddlePaddle: parameter servers, collective, or on a single pod.

    Replaces the kind of paddle-operator and PaddleCloud 0.4.
    """

    SHORT_NAMES: ClassVar[tuple[str, ...]] = ("pdj",)
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Status", ".status.phase"),
        Column("Mode", ".status.mode"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )
    STATUS: ClassVar[type[Model]] = PaddleJobStatus
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        **dict.fromkeys(("spec.ps", "spec.worker", "spec.heter"), editor_rules.ROLE_POD),
        **{f"spec.{role}.replicas": {"minimum": 0, "maximum": MOST_NODES} for role in ("ps", "worker", "heter")},
        "spec.sampleSetRef": editor_rules.needs("name"),
        "spec.sampleSetRef.name": editor_rules.SUBDOMAIN,
        "spec.sampleSetRef.mountPath": editor_rules.MOUNT_PATH,
        "spec.schedulingPolicy.minAvailable": {"minimum": 1},
        "spec.withGloo": {"enum": [0, 1, 2]},
    }

    api_version: Literal["batch.paddlepaddle.org/v1"] = Field(description="Version of this kind.")
    kind: Literal["PaddleJob"] = Field(description="Always `PaddleJob`.")
    spec: PaddleJobSpec = Field(description="The roles, and how they meet.")
