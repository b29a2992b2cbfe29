"""The table of the frameworks of a Training."""

from typing import Literal

FrameworkName = Literal["torch", "jax", "xgboost", "paddle", "none"]
"""The frameworks; each is a module of `stowplan.library.frameworks`."""
