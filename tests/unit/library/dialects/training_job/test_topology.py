"""The topology of a TrainingJob by its flags and the platform: roles, sizes and ports."""

from typing import Any

import pytest

from stowplan.library.dialects.training_job.topology import Shape, shape
from tests.unit.specs import platform, training_job

KUEUE = {"gang": "kueue", "queue": "training"}
NONE = range(0)
SERVERS = range(7164, 7166)
OWN = range(2222, 2224)
PORTS = {"trainer_port": 2222, "trainer_ports_num": 2}


def of(engines: Any = None, **spec: Any) -> Shape:
    return shape(training_job(**spec), platform(engines=engines or {}))


@pytest.mark.parametrize(
    ("flags", "topology", "sizes", "ports"),
    [
        ({}, "ps", (2, 3), (SERVERS, NONE)),
        ({"local_job": True}, "local", (0, 1), (NONE, NONE)),
        ({"local_job": True, "is_nccl": True}, "local", (0, 1), (NONE, NONE)),
        ({"is_nccl": True}, "collective", (0, 3), (NONE, SERVERS)),
        ({"frame_work": {"type": "local"}}, "local", (0, 1), (NONE, NONE)),
        ({"frame_work": {"type": "nccl2"}}, "collective", (0, 3), (NONE, OWN)),
        ({"frame_work": {"type": "multi"}}, "ps", (2, 3), (SERVERS, NONE)),
        ({"frame_work": {"type": "multi", "name": "paddle"}}, "ps", (2, 3), (SERVERS, NONE)),
        ({"frame_work": {"type": "multi", "name": "tensorflow"}}, "ps", (2, 3), (SERVERS, OWN)),
        ({"frame_work": {"type": "nccl2", "name": "tensorflow"}}, "collective", (0, 3), (NONE, OWN)),
        ({"frame_work": {"type": "multi"}, "local_job": True}, "ps", (2, 3), (SERVERS, NONE)),
        ({"frame_work": {"type": "multi"}, "is_nccl": True}, "ps", (2, 3), (SERVERS, NONE)),
        ({"frame_work": {"type": "nccl2"}, "local_job": True}, "collective", (0, 3), (NONE, OWN)),
    ],
)
@pytest.mark.parametrize("tolerant", [True, False])
def test_flags_decide_the_topology(
    flags: Any, topology: str, sizes: tuple[int, int], ports: tuple[range, range], *, tolerant: bool
) -> None:
    """`sizes` and `ports` are those of servers, then of trainers."""
    both = {"trainer": {"min-instance": 3}, "pserver": {"min-instance": 2}}
    found = of(fault_tolerant=tolerant, **both, **PORTS, **flags)
    assert found.topology == topology
    assert (found.servers, found.trainers) == sizes
    assert (found.server_ports, found.trainer_ports) == ports
    assert (found.master, found.minimum) == (tolerant, None)


@pytest.mark.parametrize(
    ("spec", "server_ports"),
    [
        ({}, range(7164, 7166)),
        ({"port": 0, "ports_num": 0, "ports_num_for_sparse": 0}, range(7164, 7166)),
        ({"port": 8000, "ports_num": 3}, range(8000, 8004)),
        ({"ports_num_for_sparse": 5}, range(7164, 7170)),
    ],
)
def test_zero_means_the_default(spec: Any, server_ports: range) -> None:
    assert of(pserver={"min-instance": 1}, **spec).server_ports == server_ports


@pytest.mark.parametrize(
    ("given", "trainer_ports"),
    [({}, NONE), ({"trainer_port": 6170}, NONE), ({"trainer_ports_num": 2}, NONE), (PORTS, OWN)],
)
def test_ports_of_trainers_have_no_default(given: Any, trainer_ports: range) -> None:
    assert of(frame_work={"type": "nccl2"}, **given).trainer_ports == trainer_ports


@pytest.mark.parametrize(
    ("trainer", "tolerant", "engines", "size", "minimum"),
    [
        ((2, 6), True, KUEUE, 6, 2),
        ((2, 6), True, None, 2, None),
        ((2, 6), True, {"gang": "volcano"}, 2, None),
        ((2, 6), False, KUEUE, 2, None),
        ((2, 2), True, KUEUE, 2, None),
        ((2, 0), True, KUEUE, 2, None),
        ((2, None), True, KUEUE, 2, None),
    ],
)
def test_a_job_is_elastic_where_trainers_survive_and_something_resizes_them(
    trainer: tuple[int, int | None], engines: Any, size: int, minimum: int | None, *, tolerant: bool
) -> None:
    least, most = trainer
    found = of(engines, fault_tolerant=tolerant, is_nccl=True, trainer={"min-instance": least, "max-instance": most})
    assert (found.trainers, found.minimum) == (size, minimum)


def test_a_local_job_is_never_elastic() -> None:
    found = of(KUEUE, fault_tolerant=True, local_job=True, trainer={"min-instance": 2, "max-instance": 6})
    assert (found.trainers, found.minimum) == (1, None)


@pytest.mark.parametrize(
    ("flags", "trainer"),
    [
        ({}, False),
        ({"local_job": True}, False),
        ({"is_nccl": True}, True),
        ({"frame_work": {"type": "nccl2"}}, True),
        ({"frame_work": {"type": "multi"}}, False),
        ({"frame_work": {"type": "multi", "name": "tensorflow"}}, True),
        ({"frame_work": {"type": "local", "name": "tensorflow"}}, False),
    ],
)
def test_trainers_are_on_the_network_of_nodes_where_they_listen(flags: Any, *, trainer: bool) -> None:
    found = of(host_network=True, **flags)
    assert found.on_host == {"master", "pserver", *(["trainer"] if trainer else [])}
    assert not of(**flags).on_host


@pytest.mark.parametrize(("endpoint", "own"), [(None, True), ("", True), ("etcd:2379", False)])
def test_an_etcd_of_the_user_takes_the_place_of_the_own(endpoint: str | None, *, own: bool) -> None:
    assert of(fault_tolerant=True, master={"etcd-endpoint": endpoint}).own_etcd is own
