"""Status fields of a SampleSet that a cache pod writes: the entry of its partition, and sums over all partitions."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stowplan.agents.cache.runtime import phase
from stowplan.agents.cache.runtime.figures import LatestFigures
from stowplan.agents.runtime import cache_fit, number_format
from stowplan.schema.agents import field_managers
from stowplan.schema.agents.cache_config import RuntimeConfig

Entry = Mapping[str, Any]
Status = dict[str, Any]

SILENT_SECONDS = 150.0
"""Seconds without a report after which a cache pod does not count as ready. Each pod reports every half minute."""


@dataclass
class Sightings:
    """Times at which entries of the status were last seen to change.

    They are measured by this machine's clock, since clocks of other machines may differ.
    """

    clock: Callable[[], float] = time.monotonic
    _seen: dict[object, tuple[object, float]] = field(default_factory=dict)

    def age(self, key: object, said: object) -> float:
        """Return the seconds since an entry was last seen to change; 0 if it changed now or is new.

        `key` identifies the entry, and `said` is its present content.
        """
        now = self.clock()
        if key not in self._seen or self._seen[key][0] != said:
            self._seen[key] = (said, now)
        return now - self._seen[key][1]


@dataclass
class Sums:
    """Status fields that the cache pod with ordinal 0 writes in addition to the entry of its own partition."""

    config: RuntimeConfig
    record: LatestFigures
    sightings: Sightings = field(default_factory=Sightings)

    def status(self, found: Mapping[str, Any]) -> Status:
        """Return the status fields to apply. `found` is the current custom resource."""
        present = found.get("status") or {}
        entries = self._entries(present)
        silent = {n: self.sightings.age(("partition", n), entry.get("observedAt")) for n, entry in entries.items()}
        own = self.record.figures.ordinal
        heard = {n: entry for n, entry in entries.items() if n == own or silent[n] <= SILENT_SECONDS}
        ready = [n for n, entry in heard.items() if not entry.get("message")]
        silence = {"message": "no report for some time"}
        troubles = [f"partition {n}: {heard.get(n, silence)['message']}" for n in entries if n not in ready]
        status: Status = {"cacheStatus": self._cache(heard, troubles)}
        attempts = {f"{task}JobName": self._attempt(present, task, 0) or {} for task in ("sync", "warmup")}
        if names := {key: entry["run"] for key, entry in attempts.items() if entry.get("run")}:
            status["jobsName"] = names
        return status | (self._phase(present, entries, len(ready), troubles) if self.config.report_phase else {})

    def all(self, found: Mapping[str, Any]) -> list[tuple[str, Status]]:
        """Return (field manager, status fields) pairs to apply: the sums, and fields to remove old entries.

        `found` is the current custom resource. An entry beyond the present number of partitions is removed by applying
        empty fields under its field manager.
        """
        present = (found.get("status") or {}).get("partitions") or ()
        surplus = sorted(each["ordinal"] for each in present if each["ordinal"] >= self.config.partitions)
        return [(field_managers.CACHE_SUM, self.status(found)), *((field_managers.cache(n), {}) for n in surplus)]

    def _entries(self, present: Mapping[str, Any]) -> dict[int, Entry]:
        """Return the partitions' entries by ordinal. The entry of this cache pod is current, the others are reported.

        `present` is the status of the current custom resource.
        """
        entries = {each["ordinal"]: each for each in present.get("partitions") or ()}
        own = self.record.figures
        entries[own.ordinal] = {**own.entry(), "observedAt": own.observed_at}
        return {n: entries[n] for n in sorted(entries) if n < self.config.partitions}

    def _cache(self, entries: Mapping[int, Entry], troubles: Sequence[str]) -> Status:
        """Return the status fields with sizes as strings for people.

        The dataset's size comes from the first partition that knows it. The sizes of the caches are sums over the
        entries. `troubles` are the problems of partitions, as sentences.
        """
        sized = next((entry for entry in entries.values() if "totalBytes" in entry), None)
        used = sum(entry.get("cachedBytes", 0) for entry in entries.values())
        each_budget = self.record.figures.budget_bytes
        budget = self.config.partitions * each_budget
        # A partition without a report counts with its whole budget. Older agents do not report what is available.
        available = (self.config.partitions - len(entries)) * each_budget + sum(
            entry.get("availableBytes", max(0, each_budget - entry.get("cachedBytes", 0))) for entry in entries.values()
        )
        status = {
            "diskSize": number_format.size(budget),
            "diskUsed": number_format.size(used),
            "diskAvail": number_format.size(available),
            "diskUsageRate": f"{used * 100 / budget:.1f}%",
        }
        if sized:
            # Caches also hold other files of the volume, and several caches may hold the same block.
            status["cachedSize"] = number_format.size(min(used, sized["totalBytes"]))
            status["totalSize"] = number_format.size(sized["totalBytes"])
            status["totalFiles"] = f"{sized['totalFiles']:,}"
        if troubles:
            status["errorMassage"] = "; ".join(troubles)
        return status

    def _attempt(self, present: Mapping[str, Any], task: str, partition: int) -> dict[str, Any] | None:
        attempts = present.get("attempts") or ()
        return next((each for each in attempts if (each["task"], each["partition"]) == (task, partition)), None)

    def _task(self, present: Mapping[str, Any], name: str, partition: int) -> phase.TaskState:
        entry = self._attempt(present, name, partition)
        return phase.task(entry, self.sightings.age((name, partition), entry and dict(entry)))

    def _phase(
        self, present: Mapping[str, Any], entries: Mapping[int, Entry], ready: int, troubles: Sequence[str]
    ) -> Status:
        wanted = self.config.partitions
        warmups = range(wanted) if self.config.warmed else ()
        situation = phase.Situation(
            partitions=wanted,
            ready=ready,
            mounted=self.record.is_mounted,
            measured=any("totalBytes" in entry for entry in entries.values()),
            sync=self._task(present, "sync", 0) if self.config.synced else None,
            warmups=tuple(self._task(present, "warmup", n) for n in warmups),
            too_small=cache_fit.too_small(
                (each for n in warmups if (each := self._attempt(present, "warmup", n))), entries.values()
            ),
        )
        missing = [f"partition {n}: no report yet" for n in range(wanted) if n not in entries]
        return {
            "phase": situation.phase,
            "runtimeStatus": {
                "specReplicas": wanted,
                "readyReplicas": ready,
                "runtimeReady": f"{ready}/{wanted}",
            },
            "conditions": phase.conditions(situation, [*troubles, *missing]),
        }


def own(record: LatestFigures, found: Mapping[str, Any] | None) -> Status:
    """Return the status fields with the entry of this pod's partition.

    `found` is the current custom resource. With None the caller only checks for a change, and the entry has neither a
    time nor the available space, which changes with the node's memory all the time.
    """
    figures = record.figures
    if found is None:
        return {"partitions": [replace(figures, available_bytes=None).entry()]}
    return {"partitions": [{**figures.entry(), "observedAt": figures.observed_at}]}
