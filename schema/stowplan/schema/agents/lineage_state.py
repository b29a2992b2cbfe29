"""Where the state of a lineage of checkpoints is. This module imports no pydantic, so that a probe starts fast."""

STATE_DIRECTORY = ".stowplan"
"""State directory at the root of a mounted dataset or claim."""

RANK_ENV = "STOWPLAN_NODE_RANK"
"""Environment variable with the pod's index in its job. The pod with index 0 holds the lock for all pods."""

MARKER_FILE = "run.json"
"""File in the state directory of a lineage that names the run that has the lineage, or had it last."""

LOCK_FOLDER = "lock/"
"""Folder in the state directory of a lineage with the flags of its lock."""

_STATE = ".state"
"""No part of a lineage's name begins with a dot."""


def state_directory(lineage: str) -> str:
    """Return the path of a lineage's state directory, relative to the root of the claim."""
    return f"{STATE_DIRECTORY}/lineages/{lineage}/{_STATE}"
