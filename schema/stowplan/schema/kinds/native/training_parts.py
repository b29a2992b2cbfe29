"""Parts of a `Training`: its data, what it leaves behind, when it restarts and where it runs."""

from typing import Annotated

from pydantic import Field

from stowplan.schema.agents.left_out import LINKS, Links
from stowplan.schema.agents.run_end import When
from stowplan.schema.agents.wait_config import Until
from stowplan.schema.forms import LINEAGE, MOUNT_PATH, REVISION
from stowplan.schema.kinds.kubernetes_shapes import ClaimTemplate
from stowplan.schema.kinds.native.dataset_task import CopyTarget
from stowplan.schema.meta import Int32, Model
from stowplan.schema.remotes.git import GitCheckout

MountPath = Annotated[str, Field(pattern=MOUNT_PATH, max_length=4096)]
ExitCode = Annotated[int, Field(ge=1, le=255)]


class TrainingWait(Model):
    """Holds the job back until the dataset is ready. `{}` is enough."""

    until: Until | None = Field(
        default=None,
        description="`synced`: the sync of the Dataset is done, and all its caches are ready. `warmed`: the warmup that follows it is done too, on all cache nodes. `mounted`: the volume can be read, which only pods can tell, so they are started at once. Without it, `synced`, and `mounted` for a dataset without a source.",
    )
    timeout_seconds: Int32 | None = Field(
        default=None,
        ge=1,
        description="Seconds after which the job fails. If the job waits for several datasets, the longest time counts, and without a time for one of them there is no limit. With `mounted`, default 86400, a day.",
    )


class TrainingDataset(Model):
    """A dataset that every pod mounts: training data, or a model to start from."""

    name: str = Field(description="Name of a Dataset in the namespace of the job.", min_length=1, max_length=253)
    mount_path: MountPath = Field(
        description="Where the trainer finds it. The variable `STOWPLAN_DATASET_<NAME>` has it too."
    )
    read_only: bool = Field(default=True, description="Whether the mount is read-only.")
    wait: TrainingWait | None = Field(
        default=None,
        description="Start nothing before the dataset is ready: the job holds no nodes, devices or quota meanwhile. Without it, the pods start at once.",
    )
    revision: str | None = Field(
        default=None,
        description="Start nothing before the last sync of the dataset has brought this revision, also without `wait`: a whole commit for a source `git` or `huggingface`, the hash of the listing, `sha256:…`, for `s3`. `status.revision` of the Dataset shows what it holds. `locked` is the revision that `stowplan.lock` or the Dataset itself names.",
        pattern=REVISION,
        max_length=71,
    )


class TrainingCode(Model):
    """Code that is fetched before the trainer starts."""

    git: GitCheckout = Field(
        description="The repository. Name a commit as `ref`: with a branch, nodes that start later may get other code."
    )
    mount_path: MountPath = Field(
        default="/code",
        description="Where the trainer finds the files of the commit, read-only. It is the working directory of the trainer, unless `template` gives another one, and the value of `STOWPLAN_CODE_DIR`.",
    )


class CheckpointVolume(Model):
    """The claim of the checkpoints: exactly one of `name` and `template`."""

    name: str | None = Field(default=None, min_length=1, max_length=253, description="Name of a claim that exists.")
    template: ClaimTemplate | None = Field(
        default=None,
        description="The claim itself, `<name>-checkpoints`, written with the job and never deleted with it. A job of several nodes needs `accessModes: [ReadWriteMany]`.",
    )


class Checkpoints(Model):
    """Where the job saves its state, and finds it when it continues.

    All runs of a lineage have one directory, whose path is in `STOWPLAN_CHECKPOINT_DIR`. One run at a time has the
    lineage: the next one starts no trainer before the one that has it is over, or was silent for ten minutes.
    """

    claim: CheckpointVolume = Field(description="The claim. The trainer must be able to write to it.")
    mount_path: MountPath = Field(default="/checkpoints", description="Where the trainer finds the whole claim.")
    lineage: str | None = Field(
        default=None,
        max_length=253,
        pattern=LINEAGE,
        description="Name of the line of runs that continue each other, and path of their directory in the claim. With another name the job begins from scratch. Without it, `<namespace>/<name>`.",
    )
    share_lineage: bool = Field(
        default=False,
        description="Whether other jobs of the namespace may have the same lineage, if they say so too. They wait for each other.",
    )


class Output(Model):
    """Files that are copied away after the job, by a pod of their own."""

    path: str = Field(
        description="Directory as the trainer sees it, such as `/models/out/final`: the `mountPath` of `checkpoints` or of a dataset with `readOnly: false`, or a directory below it. What is there at the end of the job is copied.",
        max_length=4096,
    )
    to: CopyTarget = Field(
        description="Where to copy to. After an edit the files are copied again, and the job does not run again."
    )
    links: Links | None = Field(default=None, description=LINKS)
    when: When = Field(
        default="success",
        description="After which end of the job: `success`, or `always` to copy also what a failed job left. An output that is not needed is `Skipped`.",
    )


class Restart(Model):
    """When the whole job starts again. At most one of `failOn` and `retryOn`."""

    max: Int32 = Field(
        ge=0,
        description="Number of restarts before the job fails. One after a lost node, an eviction or a preemption does not count, unless another pod fails before the one that was lost.",
    )
    fail_on: list[ExitCode] | None = Field(
        default=None,
        max_length=255,
        description="Exit codes of the trainer that end the job; all others restart it. Without `failOn` and `retryOn`, `[2, 126, 127]` with torch and none, whose nodes all end with 1 when one is lost, and `retryOn: []` with jax, xgboost and paddle.",
    )
    retry_on: list[ExitCode] | None = Field(
        default=None,
        max_length=255,
        description="Exit codes below 128 of the trainer that restart the job. Those of 128 and more, which are of signals, always do; all others end it.",
    )
    grace_seconds: Int32 | None = Field(
        default=None,
        ge=0,
        description="Seconds that the trainer has to save its state when it is stopped. Without it, that of `template`, or Kubernetes' 30.",
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
