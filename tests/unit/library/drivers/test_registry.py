from stowplan.library.drivers.api import StorageDriver
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.schema.kinds.sample_set import Csi


def test_every_driver_that_a_spec_may_name_is_registered() -> None:
    allowed = Csi.model_json_schema()["properties"]["driver"]["anyOf"][0]
    assert set(allowed["enum"]) == set(STORAGE_DRIVERS)


def test_drivers_are_filed_under_their_names() -> None:
    drivers: dict[str, StorageDriver] = STORAGE_DRIVERS
    assert [driver.name for driver in drivers.values()] == list(drivers)
