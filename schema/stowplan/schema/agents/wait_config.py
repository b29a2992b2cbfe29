"""What the agent that waits for a dataset is told: written by the compiler as arguments of an init container.

It is the one agent without a file of its own: its container stands in users' pods, which get no ConfigMap for four values.
"""

from typing import Literal

from pydantic import Field

from stowplan.schema.meta import Model

Until = Literal["mounted", "synced", "warmed"]
"""The steps of a dataset, as `stowplan.schema.agents.marker` defines them; each holds only where the one before it does."""

DEFAULT_TIMEOUT = 86400
"""Seconds: a day. Waiting costs what the pod has reserved."""


class WaitConfig(Model):
    """Ends when a dataset that is mounted is ready."""

    dataset: str = Field(description="Name of the SampleSet, for messages.", min_length=1, max_length=253)
    path: str = Field(description="Where it is mounted.", min_length=1, max_length=4096)
    until: Until = Field(description="What to wait for.")
    timeout: int = Field(description="Seconds after which to give up.", ge=1)

    def arguments(self) -> list[str]:
        """The command line that says the same."""
        return [word for key, value in self.model_dump(mode="json").items() for word in (f"--{key}", str(value))]
