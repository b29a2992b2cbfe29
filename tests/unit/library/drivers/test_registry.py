from stowplan.library.drivers.api import StorageDriver
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.schema.kinds.sample_set import Csi


def test_every_driver_that_a_spec_may_name_has_a_module_of_its_name() -> None:
    allowed = Csi.model_json_schema()["properties"]["driver"]["anyOf"][0]["enum"]
    assert allowed
    assert all(isinstance(STORAGE_DRIVERS[name], StorageDriver) for name in allowed)
