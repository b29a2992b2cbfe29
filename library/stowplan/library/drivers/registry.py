"""The storage drivers, by name."""

from importlib import import_module

from stowplan.library.drivers.api import StorageDriver
from stowplan.schema.drivers.table import DRIVERS

STORAGE_DRIVERS: dict[str, StorageDriver] = {
    name: import_module(f"stowplan.library.drivers.{name}").DRIVER for name in DRIVERS
}
"""Drivers by name. The module or package of a driver has the driver's name."""
