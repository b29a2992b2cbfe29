"""Drivers that the cache agent can use, by name."""

from collections.abc import Callable, Mapping

from stowplan.agents.cache.drivers.api import Driver
from stowplan.agents.cache.drivers.juicefs.measure import JuiceFS

DRIVERS: Mapping[str, Callable[[], Driver]] = {"juicefs": JuiceFS}
