"""Which fields of the SampleSet this agent writes, each under the name that owns it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cache.runtime.figures import Record
from stowplan.agents.cache.runtime.sums import Sums
from stowplan.schema.agents import field_managers

Status = dict[str, Any]


@dataclass(frozen=True)
class Reports:
    """The own partition, and the sums where this is the first."""

    record: Record
    sums: Sums | None

    def own(self, found: Mapping[str, Any] | None) -> Status:
        """The own entry; without its time where it is only asked for a change."""
        figures = self.record.figures
        entry = figures.entry()
        return {"partitions": [entry if found is None else {**entry, "observedAt": figures.observed_at}]}

    def others(self, found: Mapping[str, Any]) -> list[tuple[str, Status]]:
        """The sums; and nothing under the names of partitions that are no more, which takes their entries away."""
        if self.sums is None:
            return []
        return [
            (field_managers.CACHE_SUM, self.sums.status(found)),
            *((field_managers.cache(n), {}) for n in self.sums.surplus(found)),
        ]
