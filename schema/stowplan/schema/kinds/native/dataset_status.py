"""The status of a `Dataset`, as the agents report it."""

from stowplan.schema.kinds.sample_set_status import SampleSetStatus


class DatasetStatus(SampleSetStatus):
    """What was observed of the dataset. The fields are those of a SampleSet, so the same agents report both."""
