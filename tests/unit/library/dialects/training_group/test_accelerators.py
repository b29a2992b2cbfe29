"""Additions to containers that request a device, each made once."""

import copy
from typing import Any

import pytest

from stowplan.library.dialects.training_group.accelerators import equipped
from stowplan.library.manifest import Json
from stowplan.schema.platform.engines import Accelerator

DRIVER = {"name": "driver", "hostPath": "/var/lib/driver", "mountPath": "/usr/local/driver"}
LIBRARY_PATH = {"name": "LD_LIBRARY_PATH", "value": "/usr/local/driver/lib"}
MOUNT = {"name": "driver", "mountPath": "/usr/local/driver"}
VOLUME = {"name": "driver", "hostPath": {"path": "/var/lib/driver"}}


def accelerators(**devices: Any) -> dict[str, Accelerator]:
    return {name.replace("__", "/"): Accelerator.model_validate(given) for name, given in devices.items()}


GPU = accelerators(example__gpu={"volumes": [DRIVER], "envVars": [LIBRARY_PATH]})


def template(*, spec: Any = None, **container: Any) -> Json:
    return {"spec": {**(spec or {}), "containers": [{"name": "mxnet", "image": "mxnet:1", **container}]}}


def asking(device: str = "example/gpu", kind: str = "limits") -> Any:
    return {"resources": {kind: {device: 1}}}


@pytest.mark.parametrize("kind", ["limits", "requests"])
def test_a_container_that_asks_for_a_device_is_equipped(kind: str) -> None:
    spec = equipped(template(**asking(kind=kind)), "mxnet", GPU)["spec"]
    assert spec["volumes"] == [VOLUME]
    assert spec["containers"][0]["volumeMounts"] == [MOUNT]
    assert spec["containers"][0]["env"] == [LIBRARY_PATH]


@pytest.mark.parametrize("given", [template(), template(**asking("example/fpga")), template(resources={})])
def test_templates_without_a_device_are_unchanged(given: Json) -> None:
    assert equipped(given, "mxnet", GPU) == given


def test_other_containers_are_unchanged() -> None:
    given = template(**asking())
    given["spec"]["containers"][0]["name"] = "other"
    assert equipped(given, "mxnet", GPU) == given


def test_the_users_entries_of_the_same_name_or_path_are_kept() -> None:
    own = {"env": [{"name": "LD_LIBRARY_PATH", "value": "/mine"}], "volumeMounts": [{**MOUNT, "name": "mine"}]}
    given = template(spec={"volumes": [{"name": "mine", "emptyDir": {}}]}, **own, **asking())
    assert equipped(given, "mxnet", GPU) == given
    volume = {"name": "driver", "emptyDir": {}}
    spec = equipped(template(spec={"volumes": [volume]}, **asking()), "mxnet", GPU)["spec"]
    assert (spec["volumes"], spec["containers"][0]["volumeMounts"]) == ([volume], [MOUNT])


def test_two_devices_share_common_additions() -> None:
    both = {**GPU, **accelerators(example__fpga={"volumes": [DRIVER], "envVars": [LIBRARY_PATH]})}
    given = template(resources={"limits": {"example/gpu": 1, "example/fpga": 1}})
    assert equipped(given, "mxnet", both) == equipped(template(**given["spec"]["containers"][0]), "mxnet", GPU)


def test_a_device_may_be_configured_by_its_old_name() -> None:
    old = {"alpha.kubernetes.io/nvidia-gpu": GPU["example/gpu"]}
    assert equipped(template(**asking("nvidia.com/gpu")), "mxnet", old)["spec"]["volumes"] == [VOLUME]


def test_the_given_template_is_not_changed() -> None:
    given = template(**asking())
    before = copy.deepcopy(given)
    once = equipped(given, "mxnet", GPU)
    assert given == before
    assert equipped(once, "mxnet", GPU) == once
