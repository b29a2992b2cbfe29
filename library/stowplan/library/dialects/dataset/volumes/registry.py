"""The volumes of Datasets, by the names of their drivers."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.dataset.volumes.volume import PATH, Held, Volume
from stowplan.library.dialects.shared.context import Context
from stowplan.library.ir.data import CachedDataset
from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.drivers.pvc import ClaimVolume
from stowplan.schema.drivers.table import DRIVERS, Driver
from stowplan.schema.drivers.volume import VolumeBlock
from stowplan.schema.kinds.native.dataset import Dataset

_VOLUMES: dict[str, Volume[Any]] = {
    name: import_module(f"stowplan.library.dialects.dataset.volumes.{name}").VOLUME for name in DRIVERS
}


def driver_of(model: Dataset) -> Driver:
    """Return the driver of a Dataset, even if it has errors: without a volume it is that of claims."""
    return _given(model)[0]


def held(model: Dataset, namespace: str) -> Held:
    """Return where the data of a Dataset in this namespace is, even if the Dataset has errors."""
    driver, block = _given(model)
    return _VOLUMES[driver.name].held(block, model, namespace)


def path_of(dataset: CachedDataset) -> FieldPath:
    """Return the path of the block that gives the volume of a Dataset."""
    return (*PATH, DRIVERS[dataset.driver].field)


def findings(model: Dataset, dataset: CachedDataset, context: Context) -> Iterator[Finding]:
    """Yield findings about the volume of a Dataset. `dataset` is what the Dataset describes."""
    blocks = {driver.field: getattr(model.spec.volume, driver.field) for driver in DRIVERS.values()}
    yield from exactly_one(blocks, PATH, "A dataset is in one volume")
    if given := model.spec.volume.given:
        yield from _VOLUMES[dataset.driver].findings(given[1], model, dataset, context)


def _given(model: Dataset) -> tuple[Driver, VolumeBlock]:
    return model.spec.volume.given or (DRIVERS["pvc"], ClaimVolume())
