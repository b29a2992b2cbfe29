"""The storage drivers there are."""

from stowplan.library.drivers.api import StorageDriver
from stowplan.library.drivers.juicefs import JuiceFSDriver
from stowplan.library.drivers.pvc import ClaimDriver

STORAGE_DRIVERS: dict[str, StorageDriver] = {driver.name: driver for driver in (JuiceFSDriver(), ClaimDriver())}
"""Drivers by the name that `spec.csi.driver` gives. A new one is added here and nowhere else."""

DEFAULT_DRIVER = JuiceFSDriver.name
"""Driver of a dataset that names none."""
