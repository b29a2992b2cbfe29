"""The programs of the storage drivers that cache. Only what a program needs of one driver is imported."""

from importlib import import_module
from typing import Any, Literal

from stowplan.agents.cache.drivers.api import Driver, Operations
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.drivers.table import DRIVERS


def measuring(name: str) -> Driver:
    """Return what measures datasets of the driver, which its module `measure` makes by `make_driver`.

    Raises `SettingsError` for a driver that does not cache.
    """
    driver: Driver = _module(name, "measure").make_driver()
    return driver


def operations_of(name: str) -> Operations:
    """Return the operations on datasets of the driver, which its module `operations` has as `OPERATIONS`.

    Raises `SettingsError` for a driver that does not cache.
    """
    operations: Operations = _module(name, "operations").OPERATIONS
    return operations


def _module(name: str, part: Literal["measure", "operations"]) -> Any:
    """Return a module of the driver's package, which has the driver's name."""
    known = sorted(driver.name for driver in DRIVERS.values() if driver.cached)
    if name not in known:
        does = "measure" if part == "measure" else "work on"
        message = f"This program cannot {does} datasets of the driver {name!r}; it knows {', '.join(known)}"
        raise SettingsError(message)
    return import_module(f"stowplan.agents.cache.drivers.{name}.{part}")
