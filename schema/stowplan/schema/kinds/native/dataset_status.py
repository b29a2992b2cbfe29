"""The status of a `Dataset`, as the agents report it."""

from pydantic import Field

from stowplan.schema.kinds.sample_set_status import SampleSetStatus


class DatasetStatus(SampleSetStatus):
    """What was observed of the dataset. The fields are those of a SampleSet, so the same agents report both."""

    revision: str | None = Field(
        default=None,
        description="What the last sync copied: a commit of Git or of a Hub. Empty for other sources.",
        max_length=128,
    )
