"""The job engines, by name, and the kinds of objects that engines create."""

from importlib import import_module
from typing import get_args

from stowplan.library.engines.api import JobEngine
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.engines.kinds import EngineKind
from stowplan.schema.platform.engines import JobEngineName

JOB_ENGINES: dict[str, JobEngine] = {
    name: import_module(f"stowplan.library.engines.{name}").ENGINE for name in get_args(JobEngineName)
}
"""Engines by the name that `engines.jobs` of the platform gives. The module of an engine has the engine's name."""

_MADE = [*(each.kinds for each in JOB_ENGINES.values()), *(each.kinds for each in GANG_ENGINES.values())]

ENGINE_KINDS: tuple[EngineKind, ...] = tuple(dict.fromkeys(kind for kinds in _MADE for kind in kinds))
"""Every kind of object that a job engine or a gang engine can create."""

STARTING_KINDS: tuple[str, ...] = tuple(kind.kind for kind in ENGINE_KINDS if kind.starts)
"""Names of the kinds whose objects start a run when they are created."""
