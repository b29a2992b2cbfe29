"""The number of processes that a Training starts on each node."""

from collections.abc import Iterator

from stowplan.library.manifest import Json
from stowplan.library.values import quantities
from stowplan.schema.diagnostics import Finding, finding

_GPU_NAMES = ("gpu", "gpu.shared")
_GPU_PREFIXES = ("nvidia.com/mig-", "gpu.intel.com/i915", "gpu.intel.com/xe")


def count(given: str | None, trainer: Json) -> int:
    """Return the number of processes on each node, at least 1. `trainer` is the finished container.

    `given` is the field `numProcPerNode`: a number, `gpu` for the GPUs of the container, `cpu` for its whole CPUs, and
    `auto` or None for its GPUs, or 1 without any. A limit takes precedence over a request.
    """
    if given and given.isdecimal():
        return int(given)
    return max(1, _cpus(trainer) if given == "cpu" else _gpus(trainer))


def findings(given: str | None, trainer: Json) -> Iterator[Finding]:
    """Yield a finding if processes are to be counted by GPUs, and the container has none."""
    if given == "gpu" and not _gpus(trainer):
        message = "There is to be a process for each GPU, but the nodes have no limit for GPUs."
        hint = "Give `resourcesPerNode.limits` such as `nvidia.com/gpu: 8`, an `accelerator`, or a number of processes."
        yield finding("SP486", ("spec", "numProcPerNode"), message, hint)


def _gpus(trainer: Json) -> int:
    amounts = _amounts(trainer)
    return sum(int(quantities.amount(amounts[name]) or 0) for name in amounts if _is_gpu(name))


def _cpus(trainer: Json) -> int:
    return int(quantities.amount(_amounts(trainer).get("cpu", 0)) or 0)


def _amounts(trainer: Json) -> Json:
    resources = trainer.get("resources") or {}
    return {**(resources.get("requests") or {}), **(resources.get("limits") or {})}


def _is_gpu(name: str) -> bool:
    """Return whether a resource counts GPUs, as `nvidia.com/gpu` and `amd.com/gpu`, and parts of them, as MIG's do."""
    return name.rpartition("/")[2] in _GPU_NAMES or name.startswith(_GPU_PREFIXES)
