"""Measurements of one node, written by two threads and read by others."""

import threading
from dataclasses import dataclass, replace
from typing import Any

from stowplan.agents.cache.drivers.api import Extent, Pulse, Trouble
from stowplan.agents.runtime.timestamp import now


@dataclass(frozen=True, slots=True)
class Figures:
    """Measurements of one node at one moment; None if never measured."""

    ordinal: int
    node: str | None
    budget_bytes: int
    total_bytes: int | None = None
    total_files: int | None = None
    cached_bytes: int | None = None
    trouble: str | None = None
    observed_at: str | None = None

    def entry(self) -> dict[str, Any]:
        """Return the fields of the partition in the status, without the time."""
        fields = {
            "ordinal": self.ordinal,
            "node": self.node,
            "totalBytes": self.total_bytes,
            "totalFiles": self.total_files,
            "cachedBytes": self.cached_bytes,
            "budgetBytes": self.budget_bytes,
            "message": self.trouble,
        }
        return {key: value for key, value in fields.items() if value is not None}


class Record:
    """Newest measurements. A value that cannot be measured now keeps its last value."""

    def __init__(self, figures: Figures) -> None:
        self._lock = threading.Lock()
        self._figures = figures
        self._of_pulse: Trouble | None = Trouble("Starting", "Nothing was measured yet")
        self._of_extent: Trouble | None = None
        self.faults = 0
        """Number of pulses with a trouble so far."""
        self._tell()

    @property
    def figures(self) -> Figures:
        with self._lock:
            return self._figures

    @property
    def trouble(self) -> Trouble | None:
        """Return the present trouble of the mount, or else of its size."""
        with self._lock:
            return self._of_pulse or self._of_extent

    @property
    def is_mounted(self) -> bool:
        with self._lock:
            return self._of_pulse is None

    def felt(self, pulse: Pulse) -> None:
        """Record a new pulse."""
        with self._lock:
            self._of_pulse = pulse.trouble
            self.faults += pulse.trouble is not None
            if pulse.cached_bytes is not None:
                self._figures = replace(self._figures, cached_bytes=pulse.cached_bytes)
            self._figures = replace(self._figures, observed_at=now())
            self._tell()

    def measured(self, extent: Extent | Trouble) -> None:
        """Record a new size."""
        with self._lock:
            self._of_extent = extent if isinstance(extent, Trouble) else None
            if isinstance(extent, Extent):
                self._figures = replace(self._figures, total_bytes=extent.bytes, total_files=extent.files)
            self._tell()

    def ended(self) -> None:
        """Record the end of the agent: the node counts again only after a new pod has reported."""
        with self._lock:
            self._of_pulse = Trouble("Ended", "The cache pod has ended")
            self._tell()

    def _tell(self) -> None:
        trouble = self._of_pulse or self._of_extent
        self._figures = replace(self._figures, trouble=str(trouble) if trouble else None)
