"""Lineages of checkpoints: their files in a claim, and the settings of the agent that holds the lock of a lineage.

A lineage is a line of runs that continue from each other's checkpoints. These are in the directory `<lineage>` of the
claim, which belongs to the programs that train: agents make it, and neither read nor write in it. What agents need is
in `lineage_state.state_directory(lineage)` of the same claim:

- `lock/` has the flags of the run that has the lineage, and of those that wait for it.
- `MARKER_FILE` is a `LineageMarker`: the run that has the lineage, or had it last.

The agent's container is part of users' pods, and a few values need no ConfigMap, so its settings are arguments.
"""

from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.forms import LINEAGE
from stowplan.schema.meta import Model

DatasetPlace = Annotated[str, Field(pattern=r"^[^=]+=/", max_length=8192)]


class LineageDataset(Model):
    """A dataset that a run reads."""

    name: str = Field(description="Name of the Dataset.", max_length=253)
    run: str | None = Field(default=None, description="Name of the Job that filled it; null if nothing says so.")
    revision: str | None = Field(default=None, description="What that Job brought; null if nothing says so.")


class LineageMarker(Model):
    """What has written the newest checkpoints of a lineage."""

    format: Literal[1] = Field(default=1, description="Version of this format.")
    lineage: str = Field(description="Name of the lineage.")
    run: str = Field(description="Name of the run: that of its Jobs, without the role.")
    spec: str = Field(description="Digest of the pods that the spec describes.")
    image: str = Field(description="Image of the trainer, as in the spec.")
    datasets: list[LineageDataset] = Field(description="The datasets that its pods mount.")
    began: str = Field(description="When an attempt of the run last got the lineage (RFC 3339).")


class LineageConfig(Model):
    """Holds the lock of a lineage while the pods of a run exist."""

    path: str = Field(description="Where the claim is mounted.", min_length=1, max_length=4096)
    lineage: str = Field(description="Name of the lineage.", pattern=LINEAGE, max_length=512)
    job: str = Field(description="Name of the run without its hash.", min_length=1, max_length=63)
    spec: str = Field(default="", description="Digest of the pods that the spec describes.", max_length=64)
    image: str = Field(default="", description="Image of the trainer.", max_length=4096)
    datasets: list[DatasetPlace] = Field(
        default=[], description="Datasets and where they are mounted, `NAME=DIRECTORY`."
    )

    def arguments(self) -> list[str]:
        """Return the command line with these settings."""
        named = ["--path", self.path, "--lineage", self.lineage, "--job", self.job]
        return [*named, "--spec", self.spec, "--image", self.image, *self._datasets()]

    def _datasets(self) -> list[str]:
        return [word for each in self.datasets for word in ("--dataset", each)]
