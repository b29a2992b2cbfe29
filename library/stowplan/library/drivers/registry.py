"""The storage drivers, by name."""

from importlib import import_module

from stowplan.library.drivers.api import StorageDriver
from stowplan.library.values.by_name import ByName
from stowplan.schema.drivers.table import DRIVERS


def _driver(name: str) -> StorageDriver:
    found: StorageDriver = import_module(f"stowplan.library.drivers.{DRIVERS[name].name}").DRIVER
    return found


STORAGE_DRIVERS = ByName(_driver)
"""Drivers by name. The module or package of a driver has the driver's name."""
