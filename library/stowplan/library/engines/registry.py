"""The job engines there are."""

from stowplan.library.engines.api import JobEngine
from stowplan.library.engines.core import CoreEngine
from stowplan.library.engines.jobset import JobSetEngine

JOB_ENGINES: dict[str, JobEngine] = {engine.name: engine for engine in (CoreEngine(), JobSetEngine())}
"""Engines by the name that `engines.jobs` of the platform gives. A new one is added here and nowhere else."""
