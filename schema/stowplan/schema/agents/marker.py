"""Marker files in the volume. They tell a restarted task that its work is done, and others that a dataset is ready.

They are in the volume itself, so that they exist as long as the data that they describe. A sync writes them through the
metadata engine of JuiceFS, below the directory that is mounted (`sub-dir` included). Tasks on a mounted dataset find
them at the same path below their mount. The state directory is not part of the dataset: counts, listings, warmup and
the deletions of a sync ignore it.

A task knows the name of its run, its Job's name, and writes one marker file for the run (`marker_path`). That name ends
in a hash, on which users of the dataset must not depend. For them there are three more files with fixed paths:

- `COMPLETE_FILE` exists while the dataset holds all data of its sync. A sync that `completes` the dataset removes this
  file and `FAILED_FILE` before its first change, and writes it as its last action. It is a JSON object with `format`,
  `run`, `revision`, and counts for people; readers must ignore other keys. `revision` is what the sync brought: a
  commit, or the hash of a listing (`stowplan.schema.remotes.s3_listing`). It is missing if the source has no revision
  or changed during the sync, and in files of version 0.1.0. A task that changes the data and does not complete the
  dataset removes it before its first change. A refresh, or a task that copies from the Dataset's own source, writes
  the new one, and no other field, as its last action.
- `FAILED_FILE` exists after that sync failed permanently, so that no other attempt can help. It holds a `Marker`. After
  a temporary failure, neither of the two files exists.
- `warmup_path(i)`, one for each partition, holds a `WarmupMarker`, which the warmup after the sync writes. It is valid
  only if it names the run in `COMPLETE_FILE`, so that a sync need not remove it.

A dataset is *mounted* when its directory can be read; of a dataset with `noSync` nothing more is known. It is *synced*
when `COMPLETE_FILE` exists. It is *warmed* when it is synced and all partitions have a valid marker with `succeeded`.

A SampleJob's sync completes only datasets with `noSync`. rmr and clear do not change these three files: data that a
user removed on purpose are not missing, and a dataset without a cache is still complete.
"""

from typing import Literal

from pydantic import Field

from stowplan.schema.agents import lineage_state
from stowplan.schema.meta import Model

STATE_DIRECTORY = lineage_state.STATE_DIRECTORY
"""State directory at the root of the mounted dataset."""

LOCK_FILE = f"{STATE_DIRECTORY}/lock"
"""Lock file that every writer of the dataset (sync, rmr) holds, so that two runs never write at the same time."""


def holds_state(path: str) -> bool:
    """Return whether a part of the path is the state directory, in capitals or not: some file systems ignore case."""
    return STATE_DIRECTORY in path.casefold().split("/")


LONGEST_REVISION = 256
"""Maximum length of a revision in characters. The names of commits and versions are far shorter."""


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
    """Return the path of a partition's `WarmupMarker` file, relative to the root of the mounted dataset."""
    return f"{WARMUP_DIRECTORY}/{partition}.json"


def marker_path(run: str) -> str:
    """Return the path of the `Marker` file of the Job `run`, relative to the root of the mounted dataset."""
    return f"{STATE_DIRECTORY}/runs/{run}.json"
