"""Status fields of a SampleSet that a cache pod writes, and the field manager for each of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stowplan.agents.cache.runtime.figures import LatestFigures
from stowplan.agents.cache.runtime.sums import Sums
from stowplan.schema.agents import field_managers

Status = dict[str, Any]


@dataclass(frozen=True)
class Reports:
    """Status fields of one cache pod: the entry of its partition, and for ordinal 0 also the sums."""

    record: LatestFigures
    sums: Sums | None
    """Sums over all partitions; None for every pod but ordinal 0."""

    def own(self, found: Mapping[str, Any] | None) -> Status:
        """Return the status fields with the entry of this pod's partition.

        `found` is the current custom resource. With None the caller only checks for a change, and the entry has neither
        a time nor the available space, which changes with the node's memory all the time.
        """
        figures = self.record.figures
        if found is None:
            return {"partitions": [replace(figures, available_bytes=None).entry()]}
        return {"partitions": [{**figures.entry(), "observedAt": figures.observed_at}]}

    def others(self, found: Mapping[str, Any]) -> list[tuple[str, Status]]:
        """Return (field manager, status fields) pairs to apply in addition: the sums, and fields to remove old entries.

        `found` is the current custom resource. An entry beyond the present number of partitions is removed by applying
        empty fields under its field manager. Empty for every pod but ordinal 0.
        """
        if self.sums is None:
            return []
        return [
            (field_managers.CACHE_SUM, self.sums.status(found)),
            *((field_managers.cache(n), {}) for n in self.sums.surplus(found)),
        ]
