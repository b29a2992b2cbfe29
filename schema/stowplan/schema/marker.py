"""Completion markers: how a task that is started once more knows that its work is done.

A marker lies in the volume itself, so that it lives as long as the data that it speaks of. A sync writes it through the
metadata engine, below the directory that is mounted (`sub-dir` included); tasks on a mounted dataset see it at the same
path below their mount. Nothing of the state directory is part of the dataset: it is left out of counts, listings,
warmup and whatever a sync deletes at its destination.
"""

from typing import Literal

from pydantic import Field

from stowplan.schema.meta import Model

STATE_DIRECTORY = ".stowplan"
"""Directory at the root of the mounted dataset."""

LOCK_FILE = f"{STATE_DIRECTORY}/lock"
"""Held by whoever writes to the dataset (sync, rmr), so that two runs never write at once."""


class Marker(Model):
    """The end of a run. A run that failed for good has one too: whoever waits for it then gives up."""

    format: Literal[1] = Field(default=1, description="Version of this format.")
    run: str = Field(description="Name of the Job.", max_length=63)
    result: Literal["succeeded", "failed"] = Field(description="How it ended.")
    exit_code: int = Field(description="Exit code of the agent; 0 is success.")


def marker_path(run: str) -> str:
    """Path of a run's marker from the root of the mounted dataset."""
    return f"{STATE_DIRECTORY}/runs/{run}.json"
