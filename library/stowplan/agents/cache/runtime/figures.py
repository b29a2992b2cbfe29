"""Measurements of the dataset on one cluster node. Two threads write them, other threads read them."""

import threading
from dataclasses import dataclass, replace
from typing import Any

from stowplan.agents.cache.drivers.api import DatasetSize, Pulse, Trouble
from stowplan.agents.runtime.timestamp import now


@dataclass(frozen=True, slots=True)
class Figures:
    """Measurements on one cluster node at one moment. A value that was never measured is None."""

    ordinal: int
    """Number of the cache pod, from 0; also the number of the partition."""
    node: str | None
    """Name of the cluster node; None if unknown."""
    budget_bytes: int
    """Maximum size of the cache."""
    total_bytes: int | None = None
    """Size of the whole dataset."""
    total_files: int | None = None
    """Number of files of the whole dataset."""
    cached_bytes: int | None = None
    """Bytes in the cache."""
    available_bytes: int | None = None
    """Bytes that the cache can still take."""
    trouble: str | None = None
    """Present problem; None if there is none."""
    observed_at: str | None = None
    """Time of the last check of the mount (RFC 3339)."""

    def entry(self) -> dict[str, Any]:
        """Return this partition's entry in the status, without its time and without unknown values."""
        fields = {
            "ordinal": self.ordinal,
            "node": self.node,
            "totalBytes": self.total_bytes,
            "totalFiles": self.total_files,
            "cachedBytes": self.cached_bytes,
            "availableBytes": self.available_bytes,
            "budgetBytes": self.budget_bytes,
            "message": self.trouble,
        }
        return {key: value for key, value in fields.items() if value is not None}


class LatestFigures:
    """Newest measurements, for use by several threads. If a value cannot be measured now, its last value remains."""

    def __init__(self, figures: Figures) -> None:
        self._lock = threading.Lock()
        self._figures = figures
        self._of_pulse: Trouble | None = Trouble("Starting", "Nothing was measured yet")
        self._of_extent: Trouble | None = None
        self.faults = 0
        """Number of checks of the mount so far that found a problem."""

    @property
    def figures(self) -> Figures:
        with self._lock:
            trouble = self._of_pulse or self._of_extent
            return replace(self._figures, trouble=str(trouble) if trouble else None)

    @property
    def trouble(self) -> Trouble | None:
        """Return the present problem of the mount, or else of the last measurement of the size; None if all is well."""
        with self._lock:
            return self._of_pulse or self._of_extent

    @property
    def is_mounted(self) -> bool:
        """Return whether the last check of the mount found no problem; False before the first check."""
        with self._lock:
            return self._of_pulse is None

    def felt(self, pulse: Pulse, available: int | None = None) -> None:
        """Record the result of a check of the mount, and the bytes that its cache can still take (None if unknown)."""
        with self._lock:
            self._of_pulse = pulse.trouble
            self.faults += pulse.trouble is not None
            if pulse.cached_bytes is not None:
                self._figures = replace(self._figures, cached_bytes=pulse.cached_bytes)
            if available is not None:
                self._figures = replace(self._figures, available_bytes=available)
            self._figures = replace(self._figures, observed_at=now())

    def measured(self, extent: DatasetSize | Trouble) -> None:
        """Record the result of a measurement of the dataset's size."""
        with self._lock:
            self._of_extent = extent if isinstance(extent, Trouble) else None
            if isinstance(extent, DatasetSize):
                self._figures = replace(self._figures, total_bytes=extent.bytes, total_files=extent.files)

    def ended(self) -> None:
        """Record the end of this program as a problem.

        Its last report then has that problem, so the partition does not count as ready until a new pod reports.
        """
        with self._lock:
            self._of_pulse = Trouble("Ended", "The cache pod has ended")
