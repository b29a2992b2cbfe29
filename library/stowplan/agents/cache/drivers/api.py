"""What a driver knows of a dataset that is mounted on this node. Nothing here waits for ever, and nothing raises."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a mount: a word for machines and a sentence for people."""

    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


@dataclass(frozen=True, slots=True)
class Pulse:
    """How a mount is, and what its node caches of the volume; None where that cannot be known."""

    cached_bytes: int | None
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """How large a dataset is, without our own state in it."""

    bytes: int
    files: int


class Driver(Protocol):
    """One kind of storage. Each question has a time limit of its own, since the mount may hang."""

    def pulse(self, mount: Path) -> Pulse:
        """Cheap, and reads no data: asked every few seconds."""
        ...

    def extent(self, mount: Path) -> Extent | Trouble:
        """May take minutes where a dataset is large; never walks through it by way of the mount."""
        ...
