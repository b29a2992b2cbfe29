"""Settings of the agent that waits for a dataset: written by the compiler as arguments of an init container.

It is the only agent without a configuration file: its container is part of users' pods, and four values need no
ConfigMap.
"""

from typing import Literal

from pydantic import Field

from stowplan.schema.agents.marker import LONGEST_REVISION
from stowplan.schema.meta import Model

Until = Literal["mounted", "synced", "warmed"]
"""Steps of a dataset, defined in `stowplan.schema.agents.marker`. Each step includes the ones before."""

RETRY = "--retry"
"""Word of the command line for the setting `retry`."""

SECOND_LOOK = 900
"""Default of `timeout` in seconds after a gate has opened the run: the dataset was ready then."""

DEFAULT_TIMEOUT = 86400
"""Default of `timeout` in seconds: a day. A waiting pod occupies its resources."""


class WaitConfig(Model):
    """Ends when a dataset that is mounted is ready."""

    dataset: str = Field(description="Name of the SampleSet, for messages.", min_length=1, max_length=253)
    path: str = Field(description="Where it is mounted.", min_length=1, max_length=4096)
    until: Until = Field(description="What to wait for.")
    timeout: int = Field(description="Seconds after which to give up.", ge=1)
    revision: str | None = Field(
        default=None,
        description="Revision that the dataset must hold: what the marker of its sync says. Null for any.",
        max_length=LONGEST_REVISION,
    )
    retry: bool = Field(
        default=False, description="Whether another pod may try again after the timeout; else the job fails."
    )

    def arguments(self) -> list[str]:
        """Return the command line with these settings."""
        given = self.model_dump(mode="json", exclude={"retry"}, exclude_none=True)
        return [
            *(word for key, value in given.items() for word in (f"--{key}", str(value))),
            *([RETRY] if self.retry else []),
        ]
