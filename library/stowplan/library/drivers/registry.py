"""The storage drivers, by name."""

from importlib import import_module
from typing import get_args

from stowplan.library.drivers.api import StorageDriver
from stowplan.schema.kinds.sample_set import DEFAULT_DRIVER, DriverName

STORAGE_DRIVERS: dict[str, StorageDriver] = {
    name: import_module(f"stowplan.library.drivers.{name}").DRIVER for name in get_args(DriverName)
}
"""Drivers by the name that `spec.csi.driver` gives. The package of a driver has the driver's name."""


def driver_of(name: str | None) -> StorageDriver:
    """Return the driver with that name; the default driver if `name` is None or empty."""
    return STORAGE_DRIVERS[name or DEFAULT_DRIVER]
