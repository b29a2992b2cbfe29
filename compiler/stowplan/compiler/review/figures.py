"""Numbers of an output folder: GPUs, time, storage, caches and pods."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from math import inf
from typing import TypeVar

from stowplan.compiler.checks.objects.pods import pods_of
from stowplan.compiler.kubernetes.fields import items, mapping, spec_of
from stowplan.compiler.review.model import Figure
from stowplan.compiler.review.scene import Objects, Scenes, runs
from stowplan.library.manifest import Json
from stowplan.library.values.quantities import amount
from stowplan.schema.kinds.table import TRAINING_KINDS

_ACCELERATOR = re.compile(r"(gpu|tpu|npu|gaudi|mlu|dcu|xpu|accelerator)", re.IGNORECASE)
"""Extended resources that count as accelerators; others, such as those of networks, do not."""
_HOUR = 3600
_Number = TypeVar("_Number", int, float, Decimal)
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


@dataclass(slots=True)
class _Total:
    accelerators: Counter[str] = field(default_factory=Counter)
    hours: Counter[str] = field(default_factory=Counter)
    unlimited: set[str] = field(default_factory=set)
    pods: int = 0
    storage: Decimal = Decimal(0)
    memory: int = 0
    disk: int = 0

    def seconds(self, name: str) -> float:
        """Return for how long accelerators of this name are used at most; infinite without a limit."""
        return inf if name in self.unlimited else self.hours[name]


def figures(scenes: Scenes) -> tuple[Figure, ...]:
    """Return the numbers of all output folders before and after the change; those that are zero are left out."""
    before, after = (_total(list(each)) for each in zip(*((one.before, one.after) for one in scenes.all), strict=True))
    found = []
    for name in sorted(before.accelerators | after.accelerators):
        title = f"{name} of all jobs at once"
        found.append(_figure(title, before.accelerators[name], after.accelerators[name], "{:,}".format))
        found.append(_figure(f"hours of {name} at most", before.seconds(name), after.seconds(name), _hours))
    found += [
        _figure("pods of jobs at once", before.pods, after.pods, "{:,}".format),
        _figure("storage that claims request", before.storage, after.storage, size_text),
        _figure("cache memory on each node at most", Decimal(before.memory), Decimal(after.memory), size_text),
        _figure("cache disk on each node at most", Decimal(before.disk), Decimal(after.disk), size_text),
    ]
    return tuple(each for each in found if (each.before, each.after) != ("0", "0"))


def accelerators(bodies: Iterable[Json]) -> tuple[str, str]:
    """Return the accelerators of training jobs in words, and their hours; both empty without any.

    `bodies` are those of Jobs and JobSets. Such as `12 nvidia.com/gpu` and `18 hours of them at most`.
    """
    total = _Total()
    for body in bodies:
        _add_training(total, body)
    names = [name for name, number in sorted(total.accelerators.items()) if number]
    hours = sum(-(-total.hours[name] // _HOUR) for name in names)
    limit = "without a limit of time" if total.unlimited & {*names} else f"{hours:,} hours of them at most"
    return " and ".join(f"{total.accelerators[name]:,} {name}" for name in names), limit if names else ""


def _total(folders: list[Objects]) -> _Total:
    total = _Total()
    for objects in folders:
        for spec, _, body in runs(objects):
            if spec.kind in TRAINING_KINDS:
                _add_training(total, body)
            else:
                total.pods += sum(each for each, _, _ in _pods(body))
        for body in objects.values():
            if body.get("kind") == "PersistentVolumeClaim" and not _is_unbounded(body):
                asked = amount(mapping(body, "spec", "resources", "requests").get("storage"))
                total.storage += asked or 0
            elif body.get("kind") == "PersistentVolume" and spec_of(body):
                memory, disk = _cache(body)
                total.memory += memory
                total.disk += disk
    return total


def _is_unbounded(body: Json) -> bool:
    """Whether the claim is for a volume of ours without a size of its own, such as a bucket."""
    return mapping(body, "spec").get("storageClassName") == "" and bool(mapping(body, "spec").get("volumeName"))


def _add_training(total: _Total, body: Json) -> None:
    for pods, seconds, resources in _pods(body):
        total.pods += pods
        for name, number in resources.items():
            total.accelerators[name] += pods * number
            if seconds is None:
                total.unlimited.add(name)
            else:
                total.hours[name] += pods * number * seconds


def _pods(body: Json) -> Iterator[tuple[int, int | None, dict[str, int]]]:
    """Yield the pods of each template of a Job or JobSet: number, deadline in seconds or None, accelerators of a pod.

    The deadline of a JobSet's Job counts anew for each restart.
    """
    attempts = 1
    jobs = [(1, mapping(body, "spec"))]
    if body.get("kind") == "JobSet":
        attempts += int(mapping(body, "spec", "failurePolicy").get("maxRestarts") or 0)
        jobs = [
            (int(each.get("replicas", 1)), mapping(each, "template", "spec"))
            for each in items(body, "spec", "replicatedJobs")
        ]
    for (replicas, job), pod in zip(jobs, pods_of(body), strict=False):
        seconds = job.get("activeDeadlineSeconds") or pod.spec.get("activeDeadlineSeconds")
        own = Counter[str]()
        for _, container in pod.containers:
            limits = mapping(container, "resources", "requests") | mapping(container, "resources", "limits")
            for name, value in limits.items():
                if "/" in name and _ACCELERATOR.search(name):
                    own[name] = max(own[name], 0) + int(amount(value) or 0)
        parallel = job.get("parallelism", 1)
        yield replicas * int(parallel), int(seconds) * attempts if seconds else None, dict(own)


def _cache(body: Json) -> tuple[int, int]:
    """Return the sizes in bytes of a volume's cache in the memory and on the disks of a node, by its mount options."""
    options = dict(each.partition("=")[::2] for each in mapping(body, "spec").get("mountOptions") or ())
    size = int(options.get("cache-size", "0") or 0) << 20
    return (size, 0) if options.get("cache-dir", "").startswith("/dev/shm") else (0, size)  # noqa: S108 - a mount option


def _figure(title: str, before: _Number, after: _Number, text: Callable[[_Number], str]) -> Figure:
    return Figure(title, text(before), text(after), None if before == after else after > before)


def _hours(seconds: float) -> str:
    return "no limit" if seconds == inf else f"{-(-seconds // _HOUR):,}"


def size_text(number: Decimal) -> str:
    """Return a number of bytes with a binary unit and at most one decimal: `1.5 TiB`."""
    if not number:
        return "0"
    value, unit = number, 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f}".removesuffix(".0") + f" {_UNITS[unit]}"
