"""An entry of the field `runAfter`, which kinds have in place of the annotation."""

from typing import Literal

from pydantic import Field

from stowplan.schema.meta import Model


class RunAfter(Model):
    """A spec of the same namespace that must be done first."""

    kind: Literal[
        "DataCube",
        "Dataset",
        "DatasetTask",
        "MxJob",
        "PaddleJob",
        "SampleJob",
        "SampleSet",
        "Training",
        "TrainingJob",
    ] = Field(description="Kind of the spec.")
    name: str = Field(description="Name of the spec.", min_length=1, max_length=253)
