"""Fields of the SampleSet that this agent writes, each under its own field manager."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cache.runtime.figures import Record
from stowplan.agents.cache.runtime.sums import Sums
from stowplan.schema.agents import field_managers

Status = dict[str, Any]


@dataclass(frozen=True)
class Reports:
    """Entry of the own partition; the first partition also writes the sums."""

    record: Record
    sums: Sums | None

    def own(self, found: Mapping[str, Any] | None) -> Status:
        """Return the own entry; without its time if the caller only checks for a change."""
        figures = self.record.figures
        entry = figures.entry()
        return {"partitions": [entry if found is None else {**entry, "observedAt": figures.observed_at}]}

    def others(self, found: Mapping[str, Any]) -> list[tuple[str, Status]]:
        """Return the sums, and empty fields for surplus partitions, which removes their entries."""
        if self.sums is None:
            return []
        return [
            (field_managers.CACHE_SUM, self.sums.status(found)),
            *((field_managers.cache(n), {}) for n in self.sums.surplus(found)),
        ]
