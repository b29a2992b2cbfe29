"""Variables of Paddle's roles that tests of training groups do not cover; see `tests/launcher` for these."""

from typing import Any

import pytest

from stowplan.library.frameworks.paddle_job import Elastic, Paddle
from stowplan.library.ir.training import Hosts, Role, TrainingGroup
from stowplan.library.values.names import TrainingNames
from tests.unit.specs import ORIGIN

HOSTS = {name: Hosts(f"{name}-", ".job") for name in ("ps", "worker", "heter")}


def variables(name: str, *others: str, paddle: Paddle | None = None, limits: dict[str, Any] | None = None) -> Any:
    """All variables with a plain value of one role in a group."""
    template = {"spec": {"containers": [{"name": "paddle", "resources": {"limits": limits}}]}}
    roles = {each: Role(each, 2, template, decides=each == "worker", ports=(36000,)) for each in (name, *others)}
    group = TrainingGroup(ORIGIN, TrainingNames("ctr", "paddlejob"), paddle or Paddle(), tuple(roles.values()))
    found = group.framework.environments(group, HOSTS)[name]
    return {each["name"]: each["value"] for each in (*found.fixed, *found.defaults) if "value" in each}


@pytest.mark.parametrize(
    ("limits", "device"),
    [
        (None, "cpu"),
        ({"cpu": 4, "memory": "8Gi"}, "cpu"),
        ({"cpu": 4, "nvidia.com/gpu": 1}, "gpu"),
        ({"aliyun.com/gpu-mem": 4}, "gpu"),
        ({"kunlunxin.com/XPU": 1}, "xpu"),
    ],
)
def test_device_of_heterogeneous_workers(limits: dict[str, Any] | None, device: str) -> None:
    assert variables("heter", "worker", limits=limits)["HETER_DEVICE_TYPE"] == device


def test_words_for_heterogeneous_workers() -> None:
    found = variables("heter", "worker")
    assert (found["TRAINING_ROLE"], found["PADDLE_TRAINING_ROLE"]) == ("HETER_TRAINER", "HETER")


def test_no_stages_without_heterogeneous_workers() -> None:
    assert not [name for name in variables("worker", "ps") if "STAGE" in name or "HETER" in name]


def test_first_of_several_etcds() -> None:
    paddle = Paddle(elastic=Elastic("ml-ctr", ("etcd-0:2379", "etcd-1:2379"), ("size", "np")))
    assert variables("worker", paddle=paddle)["PADDLE_MASTER"] == "etcd://Etcd-0:2379"


@pytest.mark.parametrize(
    ("server", "host"),
    [("etcd.ml:2379", "etcd.ml"), ("ted:1", "ted"), ("ml-etcd:2379", "ml-etcd"), ("192.0.2.7:2379", "192.0.2.7")],
)
def test_the_launcher_since_2_3_leaves_the_host_of_the_etcd_whole(server: str, host: str) -> None:
    paddle = Paddle(elastic=Elastic("ml-ctr", (server,), ("size", "np"), modern=True))
    master = variables("worker", paddle=paddle)["PADDLE_MASTER"]
    assert master.strip("etcd://").split(":")[0].lower() == host  # noqa: B005 - so does Paddle
