"""The gang engines, by name."""

from importlib import import_module
from typing import get_args

from stowplan.library.engines.gang.api import GangEngine
from stowplan.schema.platform.engines import GangEngineName

GANG_ENGINES: dict[str, GangEngine] = {
    name: import_module(f"stowplan.library.engines.gang.{name}").ENGINE for name in get_args(GangEngineName)
}
"""Engines by the name that `engines.gang` of the platform gives. The module of an engine has the engine's name."""
