"""What the agent that waits for the end of a training run tells the agent that copies an output of the run."""

from typing import Literal

When = Literal["success", "always"]

SKIP_FILE = "/tmp/stowplan-skipped"  # noqa: S108 - a directory in the pod, on an emptyDir of its own
"""File that says why nothing is to be copied. It is there if the run ended so that the output is not needed."""
