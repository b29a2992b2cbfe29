"""The profiles of the platform file that a Training names."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from stowplan.schema.diagnostics import Finding, did_you_mean, finding
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.profiles import AcceleratorProfile, NetworkProfile

_Profile = TypeVar("_Profile")

_NO_DEVICE, _NO_NETWORK = AcceleratorProfile(), NetworkProfile()


def accelerator(model: Training, platform: Platform) -> AcceleratorProfile:
    """Return the device that the job names; an empty profile if it names none, or one that does not exist."""
    return platform.profiles.accelerators.get(model.spec.accelerator or "", _NO_DEVICE)


def network(model: Training, platform: Platform) -> NetworkProfile:
    """Return the network that the job names; an empty profile if it names none, or one that does not exist."""
    return platform.profiles.networks.get(model.spec.network or "", _NO_NETWORK)


def findings(model: Training, platform: Platform) -> Iterator[Finding]:
    """Yield findings about profiles that do not exist, and about a number of nodes that a device does not have."""
    yield from _missing("accelerator", model.spec.accelerator, platform.profiles.accelerators)
    yield from _missing("network", model.spec.network, platform.profiles.networks)
    together = accelerator(model, platform).nodes
    if together and model.spec.num_nodes != together:
        message = f"Found {model.spec.num_nodes}; {model.spec.accelerator} has {together} nodes that belong together."
        yield finding("SP205", ("spec", "numNodes"), message, f"Write {together}, or choose another accelerator.")


def _missing(field: str, name: str | None, known: Mapping[str, _Profile]) -> Iterator[Finding]:
    if name is not None and name not in known:
        message = f'The platform has no {field} "{name}".'
        hint = did_you_mean(name, known) if known else f"Add it to `profiles.{field}s` of the platform file."
        yield finding("SP487", ("spec", field), message, hint)
