"""Rules for the ports of a TrainingJob."""

from collections.abc import Iterator
from itertools import combinations

from stowplan.library.dialects.training_job.commands import MASTER_PORT
from stowplan.library.dialects.training_job.etcd import ETCD_PORT
from stowplan.library.dialects.training_job.topology import Shape, own_ports, shape
from stowplan.schema.diagnostics import Anchor, Finding, finding
from stowplan.schema.kinds.training_job import TrainingJob
from stowplan.schema.platform.platform import Platform

_LARGEST_PORT = 65535


def findings(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    """Yield the findings about numbers of ports, ports outside of the range, and roles whose ports overlap."""
    spec = model.spec
    numbers = {
        "ports_num": spec.ports_num,
        "ports_num_for_sparse": spec.ports_num_for_sparse,
        "trainer_ports_num": spec.trainer_ports_num,
    }
    negative = {key: number for key, number in numbers.items() if number is not None and number < 0}
    for key, number in negative.items():
        message = f"Found {number}; a number of ports is not negative."
        yield finding("SP205", ("spec", key), message, "Give the number of ports.")
    if negative:
        return
    layout = shape(model, platform)
    for name, ports in (("pserver", layout.server_ports), ("trainer", layout.trainer_ports)):
        if ports and not (ports.start >= 1 and ports.stop - 1 <= _LARGEST_PORT):
            key = "trainer_port" if name == "trainer" and own_ports(spec) else "port" if spec.port else "ports_num"
            message = f"The {name} would listen on {ports.start} to {ports.stop - 1}; allowed are 1 to {_LARGEST_PORT}."
            yield finding("SP439", ("spec", key), message, "Give another first port, or fewer ports.")
    yield from _trainer_ports(model, layout)
    if spec.host_network:
        yield from _overlaps(layout)


def _trainer_ports(model: TrainingJob, layout: Shape) -> Iterator[Finding]:
    spec = model.spec
    if not own_ports(spec):
        for key, number in (("trainer_port", spec.trainer_port), ("trainer_ports_num", spec.trainer_ports_num)):
            if number:
                message = f"`{key}` has no effect: trainers of this kind open no ports of their own."
                yield finding("SP406", ("spec", key), message, "Remove it.", anchor=Anchor.KEY)
    elif not layout.trainer_ports:
        message = "The trainers listen on ports of their own, but none are given."
        hint = "Give `trainer_port` and `trainer_ports_num`, unless the program finds its own."
        yield finding("SP472", ("spec", "frame_work", "type"), message, hint)


def _overlaps(layout: Shape) -> Iterator[Finding]:
    """Yield findings about roles whose ports overlap. On the network of one cluster node, ports must differ."""
    taken = {
        "the master": range(MASTER_PORT, MASTER_PORT + 1) if layout.master else range(0),
        "etcd": range(ETCD_PORT, ETCD_PORT + 1) if layout.master and layout.own_etcd else range(0),
        "the pserver": layout.server_ports if layout.servers else range(0),
        "the trainer": layout.trainer_ports if layout.on_host("trainer") else range(0),
    }
    for (one, first), (other, second) in combinations(taken.items(), 2):
        if first and second and first.start < second.stop and second.start < first.stop:
            message = f"On a shared node, {one} and {other} would both use port {max(first.start, second.start)}."
            yield finding("SP439", ("spec", "host_network"), message, "Choose other ports.", anchor=Anchor.KEY)
