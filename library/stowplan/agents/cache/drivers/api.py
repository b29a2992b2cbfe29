"""Interface to the driver of a dataset that is mounted on this node. Every call has a time limit, and none raises."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Trouble:
    """Problem of a mount: a reason for machines and a sentence for people."""

    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


@dataclass(frozen=True, slots=True)
class Pulse:
    """State of a mount, and the bytes of the volume that its node caches; None if unknown."""

    cached_bytes: int | None
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """Size of a dataset, without the state directory."""

    bytes: int
    files: int


class Driver(Protocol):
    """One kind of storage. Each call has its own time limit, since the mount may hang."""

    def pulse(self, mount: Path) -> Pulse:
        """Check the mount without reading data. It is called every few seconds."""
        ...

    def extent(self, mount: Path) -> Extent | Trouble:
        """Measure the dataset. It may take minutes, and never walks through the mount."""
        ...
