"""Markers in the volume: how a task that is started once more knows that its work is done, and how others see that a
dataset is ready.

They lie in the volume itself, so that they live as long as the data that they speak of. A sync writes them through the
metadata engine, below the directory that is mounted (`sub-dir` included); tasks on a mounted dataset see them at the same
path below their mount. Nothing of the state directory is part of the dataset: it is left out of counts, listings,
warmup and whatever a sync deletes at its destination.

A task knows its run, whose name ends in a hash, and keeps one marker for it (`marker_path`). Whoever only uses the dataset
must not depend on that hash. For them there are three more, at paths that do not change:

- `COMPLETE_FILE` is there while the dataset holds all that its sync brings. A sync that `completes` the dataset removes it,
  and `FAILED_FILE`, before its first change, and writes it as its last act. It is a JSON object with `format`, `run`, and
  counts for people; whoever reads it must not mind other keys.
- `FAILED_FILE` is there when that sync failed and no other attempt can help: a `Marker`. A failure that may pass by itself
  leaves neither of the two.
- `warmup_path(i)`, one for each partition, is written by the warmup that follows the sync: a `WarmupMarker`. It counts as long
  as it names the run of `COMPLETE_FILE`, so that a sync need not remove it.

A dataset is *mounted* when its directory can be read, which is all that can be asked of one with `noSync`; *synced* when
`COMPLETE_FILE` is there; *warmed* when it is synced and all partitions have a marker that counts and says `succeeded`.
A SampleJob's sync completes only datasets with `noSync`; rmr and clear leave all three alone, since what somebody removed on
purpose is not missing, and a cold cache is not wrong.
"""

from typing import Literal

from pydantic import Field

from stowplan.schema.meta import Model

STATE_DIRECTORY = ".stowplan"
"""State directory at the root of the mounted dataset."""

LOCK_FILE = f"{STATE_DIRECTORY}/lock"
"""Lock of every writer of the dataset (sync, rmr), so that two runs never write at once."""


def holds_state(path: str) -> bool:
    """Return whether a component of the path is the state directory, in any case: some file systems ignore case."""
    return STATE_DIRECTORY in path.casefold().split("/")


class Marker(Model):
    """The end of a run. A run that failed for good has one too: whoever waits for it then gives up."""

    format: Literal[1] = Field(default=1, description="Version of this format.")
    run: str = Field(description="Name of the Job.", max_length=63)
    result: Literal["succeeded", "failed"] = Field(description="How it ended.")
    exit_code: int = Field(description="Exit code of the agent; 0 is success.")


class WarmupMarker(Marker):
    """The end of the warmup of one partition."""

    partition: int = Field(description="Number of the cache node, from 0.", ge=0)
    partitions: int = Field(description="Number of them all.", ge=1)
    sync: str = Field(description="Run of the sync that it followed.", max_length=63)


COMPLETE_FILE = f"{STATE_DIRECTORY}/complete.json"
"""File that exists while the dataset is complete."""

FAILED_FILE = f"{STATE_DIRECTORY}/failed.json"
"""File that exists after the sync has failed permanently."""

WARMUP_DIRECTORY = f"{STATE_DIRECTORY}/warmup"


def warmup_path(partition: int) -> str:
    """Return the path of a partition's warmup marker, relative to the root of the mounted dataset."""
    return f"{WARMUP_DIRECTORY}/{partition}.json"


def marker_path(run: str) -> str:
    """Return the path of a run's marker, relative to the root of the mounted dataset."""
    return f"{STATE_DIRECTORY}/runs/{run}.json"
