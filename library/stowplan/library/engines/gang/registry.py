"""The gang engines there are."""

from stowplan.library.engines.gang.api import GangEngine
from stowplan.library.engines.gang.coscheduling import Coscheduling
from stowplan.library.engines.gang.kueue import Kueue
from stowplan.library.engines.gang.none import NoGang
from stowplan.library.engines.gang.volcano import Volcano

GANG_ENGINES: dict[str, GangEngine] = {engine.name: engine for engine in (NoGang(), Volcano(), Coscheduling(), Kueue())}
"""Engines by the name that `engines.gang` of the platform gives. A new one is added here and nowhere else."""
