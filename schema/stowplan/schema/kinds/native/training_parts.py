"""Parts of a `Training`: its data, what it leaves behind, when it restarts and where it runs."""

from typing import Annotated, Any, Literal

from pydantic import Field

from stowplan.schema.agents.wait_config import Until
from stowplan.schema.kinds.native.dataset_task import CopyTarget
from stowplan.schema.kinds.native.places import GitPlace
from stowplan.schema.meta import Int32, KubernetesType, Model

MountPath = Annotated[str, Field(pattern=r"^/[^:]*[^:/][^:]*$", max_length=4096)]
CheckpointClaim = Annotated[dict[str, Any], KubernetesType("io.k8s.api.core.v1.PersistentVolumeClaimTemplate")]
ExitCode = Annotated[int, Field(ge=1, le=255)]


class TrainingWait(Model):
    """Holds the job back until the dataset is ready. `{}` is enough."""

    until: Until | None = Field(
        default=None,
        description="`mounted`, `synced` or `warmed`. Without it, `synced`, and `mounted` for a dataset without a source.",
    )
    timeout_seconds: Int32 | None = Field(default=None, ge=1, description="Seconds after which the job fails.")


class TrainingDataset(Model):
    """A dataset that every pod mounts: training data, or a model to start from."""

    name: str = Field(description="Name of a Dataset in the namespace of the job.", min_length=1, max_length=253)
    mount_path: MountPath = Field(
        description="Where the trainer finds it. The variable `STOWPLAN_DATASET_<NAME>` has it too."
    )
    read_only: bool = Field(default=True, description="Whether the mount is read-only.")
    wait: TrainingWait | None = Field(
        default=None, description="Start nothing before the dataset is ready. Not supported yet."
    )
    revision: Literal["locked"] | None = Field(
        default=None, description="`locked` for the revision in `stowplan.lock`. Not supported yet."
    )


class TrainingCode(Model):
    """Code that is fetched before the trainer starts."""

    git: GitPlace = Field(description="The repository.")
    mount_path: MountPath = Field(default="/code", description="Where the trainer finds it.")


class CheckpointVolume(Model):
    """The claim of the checkpoints: exactly one of `name` and `template`."""

    name: str | None = Field(default=None, min_length=1, max_length=253, description="Name of a claim that exists.")
    template: CheckpointClaim | None = Field(default=None, description="The claim itself, written with the job.")


class Checkpoints(Model):
    """Where the job saves its state, and finds it when it continues."""

    claim: CheckpointVolume = Field(description="The claim.")
    mount_path: MountPath = Field(default="/checkpoints", description="Where the trainer finds it.")
    lineage: str | None = Field(
        default=None,
        max_length=253,
        description="Name of the line of runs that continue each other. Without it, `<namespace>/<name>`.",
    )
    share_lineage: bool = Field(default=False, description="Whether other jobs may have the same lineage.")


class Output(Model):
    """Files that are copied away after the job."""

    path: str = Field(description="Directory below the checkpoints or a writable dataset.", max_length=4096)
    to: CopyTarget = Field(description="Where to copy to.")
    when: Literal["success", "always"] = Field(default="success", description="After which end of the job.")


class Restart(Model):
    """When the whole job starts again from its checkpoints."""

    max: Int32 = Field(ge=0, description="Number of restarts before the job fails.")
    fail_on: list[ExitCode] | None = Field(default=None, description="Exit codes of the trainer that end the job.")
    retry_on: list[ExitCode] | None = Field(
        default=None, description="Exit codes below 128 of the trainer that restart the job; all others end it."
    )
    grace_seconds: Int32 | None = Field(
        default=None, ge=0, description="Seconds that the trainer has to save its state when it is stopped."
    )


class Elastic(Model):
    """The job may run with fewer or more nodes. Only with `torch` and `paddle`."""

    min: Int32 = Field(ge=1, description="Smallest number of nodes.")
    max: Int32 = Field(ge=1, description="Largest number of nodes.")


class Topology(Model):
    """How near to each other the pods run: exactly one of the two."""

    required: str | None = Field(
        default=None,
        max_length=316,
        description="Label of nodes, such as `cloud.provider.com/rack`; all pods run on nodes with the same value.",
    )
    preferred: str | None = Field(default=None, max_length=316, description="The same as a preference.")


class Scheduling(Model):
    """Where and when the job runs."""

    queue: str | None = Field(
        default=None,
        max_length=63,
        description="Queue of the job: a LocalQueue of Kueue, or a Queue of Volcano. Without it, the platform's.",
    )
    priority: str | None = Field(
        default=None,
        max_length=253,
        description="Priority of the job: a WorkloadPriorityClass with Kueue, else a PriorityClass.",
    )
    topology: Topology | None = Field(default=None, description="How near to each other the pods run. Needs Kueue.")
    exclusive: str | None = Field(
        default=None,
        max_length=316,
        description="Label of nodes, such as `cloud.google.com/gke-nodepool`: no other job runs on nodes with the same value. Needs JobSet.",
    )
