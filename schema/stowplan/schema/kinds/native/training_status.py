"""The status of a `Training`, as the reporter reports it."""

from typing import Literal

from pydantic import Field

from stowplan.schema.kinds.conditions import Conditions, Run
from stowplan.schema.meta import Int32, Model

OutputPhase = Literal["Waiting", "Pending", "Running", "Succeeded", "Failed", "Skipped"]


class OutputStatus(Model):
    """What was observed of one output."""

    path: str = Field(description="The output's `path`.")
    phase: OutputPhase = Field(
        description="`Waiting` for the end of the run, `Pending` until there is a Job, `Running`, `Succeeded`, `Failed`, or `Skipped` because the run failed."
    )
    message: str | None = Field(default=None, description="Why it is in this phase, in a sentence.")


class TrainingStatus(Model):
    """What was observed of the job."""

    phase: str | None = Field(
        default=None,
        description="`Pending`, `Waiting`, `Starting`, `Running`, `Restarting`, `Succeeded`, `Failed` or `Suspended`. Before the end it is that of the pod that is furthest behind: `Pending` without a node, image or turn in a queue, `Waiting` for a dataset (before anything is started, or in a pod), the other pods or another run of its lineage, `Starting` until it is ready. `Restarting` is any of these once all pods ran. `Suspended` is by `suspend`.",
    )
    run: Run = None
    nodes: Int32 | None = Field(default=None, description="Wanted pods.")
    ready_nodes: Int32 | None = Field(
        default=None, description="Pods whose containers are all ready, or that are done."
    )
    nodes_ready: str | None = Field(default=None, description="Ready and wanted pods, such as `2/4`.")
    restarts: Int32 | None = Field(default=None, description="Restarts of the whole job, which JobSet counts.")
    counted_restarts: Int32 | None = Field(
        default=None,
        description="Those that count towards `restart.max`: not after a lost node, an eviction or a preemption.",
    )
    start_time: str | None = Field(default=None, description="When all pods ran for the first time, RFC 3339.")
    completion_time: str | None = Field(default=None, description="When the job ended, RFC 3339.")
    message: str | None = Field(default=None, description="Why the job waits, restarts or failed, in a sentence.")
    outputs: list[OutputStatus] | None = Field(
        default=None, max_length=16, description="The outputs, in the order of the spec."
    )
    conditions: Conditions | None = Field(default=None, description="Standard conditions.")
    observed_generation: int | None = Field(default=None, description="Generation of the spec that was observed.")
