"""`MxJob`: training with MXNet, on one pod or with its parameter server."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from stowplan.schema.kinds import editor_rules
from stowplan.schema.kinds.conditions import Conditions, Run
from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource
from stowplan.schema.kinds.editor_rules import Schema
from stowplan.schema.kinds.kubernetes_shapes import PodTemplate
from stowplan.schema.meta import Model

CONTAINER = "mxnet"
"""Name of the container that trains and gets the variables of MXNet. Every pod template must have it."""


class MxReplicaSpec(Model):
    """The pods of one role."""

    replicas: int | None = Field(default=None, description="Number of pods. Default 1; there is one scheduler.")
    mx_replica_type: str | None = Field(
        default=None, description="`SCHEDULER`, `SERVER` or `WORKER`. Default `WORKER`."
    )
    ps_root_port: int | None = Field(
        default=None, alias="PsRootPort", description="Port of the scheduler. Default 9091."
    )
    template: PodTemplate | None = Field(
        default=None, description="The pods: a Kubernetes PodTemplateSpec with a container `mxnet`. Must be given."
    )


class MxJobSpec(Model):
    """The mode and the roles."""

    runtime_id: str | None = Field(
        default=None,
        alias="RuntimeId",
        description="Value of the pods' label `runtime_id`; by default the hash of the run, in which names end in any case.",
    )
    job_mode: str | None = Field(
        default=None, description="`local` for one worker, `dist` for a scheduler, servers and workers. Must be given."
    )
    replica_specs: list[MxReplicaSpec] | None = Field(default=None, description="The roles, each once.")


class MxReplicaStatus(Model):
    """The pods of one role."""

    mx_replica_type: str | None = Field(
        default=None, alias="Mx_replica_type", description="`SCHEDULER`, `SERVER` or `WORKER`."
    )
    state: str | None = Field(default=None, description="`Running`, `Failed` or `Succeeded`.")
    replicas_states: dict[str, int] | None = Field(
        default=None,
        alias="ReplicasStates",
        description="Number of pods, by state: `Running`, `Succeeded`, `Failed` or `Unknown`, as for a lost node.",
    )


class MxJobStatus(Model):
    """What was observed of the job."""

    phase: str | None = Field(
        default=None, description="`Creating`, `Running` or `Done`; `state` then says how the job ended."
    )
    state: str | None = Field(default=None, description="`Succeeded` or `Failed`; absent before the end.")
    reason: str | None = Field(default=None, description="Why the phase is what it is.")
    control_paused: bool | None = Field(default=None, description="Never true, also in the old operator.")
    replica_statuses: list[MxReplicaStatus] | None = Field(default=None, description="One entry for each role.")
    run: Run = None
    conditions: Conditions | None = Field(default=None, description="Standard conditions.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")


class MxJob(CustomResource):
    """Training with MXNet: a single worker, or workers with servers and a scheduler.

    Replaces the kind of deepinsight's mxnet-operator.
    """

    FOLDED_KEYS: ClassVar[bool] = True
    COLUMNS: ClassVar[tuple[Column, ...]] = (Column("PHASE", ".status.phase"), Column("STATE", ".status.state"), AGE)
    STATUS: ClassVar[type[Model]] = MxJobStatus
    EDITOR_RULES: ClassVar[Mapping[str, Schema]] = {
        "spec": editor_rules.needs("jobMode"),
        "spec.jobMode": {"enum": ["local", "dist"]},
        "spec.replicaSpecs[]": editor_rules.POD,
        "spec.replicaSpecs[].replicas": editor_rules.PODS,
        "spec.replicaSpecs[].mxReplicaType": {"enum": ["SCHEDULER", "SERVER", "WORKER"]},
    }

    api_version: Literal["mxnet.mlkube.io/v1beta1"] = Field(description="Version of this kind.")
    kind: Literal["MxJob"] = Field(description="Always `MxJob`.")
    spec: MxJobSpec = Field(description="The mode and the roles.")
