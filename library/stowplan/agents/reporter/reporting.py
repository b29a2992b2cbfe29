"""Derive the status of each custom resource whose objects have changed, and write the status."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from stowplan.agents.cluster.answers import Manifest, Refused, Unreachable
from stowplan.agents.cluster.backoff import Backoff
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import collection, resource
from stowplan.agents.reporter.objects import events, pods, resources, workloads
from stowplan.agents.reporter.objects.cache import Caches, ObjectCache
from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.objects.workloads import Key
from stowplan.agents.reporter.queue import Queue
from stowplan.agents.reporter.rules import registry
from stowplan.agents.reporter.watching import Watching
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.field_managers import REPORTER
from stowplan.schema.agents.reporter_config import ReporterConfig

SETTLE_SECONDS = 0.3
"""Seconds to wait after a change of an object, since other changes often follow. One status then covers them all."""

NEW_SPEC_SECONDS = 2.0
"""Seconds to wait after a change of a custom resource's spec.

The new Jobs arrive by another watch, and a status must not be derived from the old Jobs.
"""

BETWEEN_SECONDS = 1.0
"""Minimum seconds between two reports on one custom resource."""

RESYNC_SECONDS = 300.0
"""Seconds between two times at which the status of every custom resource is derived again, changed or not."""

HANDS = 4
"""Number of workers, and so the maximum number of concurrent reports."""


@dataclass
class Reporting:
    """The reporter, which writes the status of all custom resources in one namespace."""

    config: ReporterConfig
    client: Client
    log: Log
    caches: Caches = field(init=False)
    queue: Queue = field(init=False)
    _generations: dict[Key, tuple[str, int]] = field(default_factory=dict)
    """Last seen UID and `metadata.generation` of each custom resource."""
    _not_before: dict[Key, float] = field(default_factory=dict)
    """Time, by the monotonic clock, before which no status of the custom resource may be derived."""
    _backoffs: dict[Key, Backoff] = field(default_factory=dict)

    def __post_init__(self) -> None:
        namespace = self.config.namespace
        self.queue = Queue(monotonic)
        changed = partial(self.queue.add, delay=SETTLE_SECONDS)
        self.caches = Caches(
            resources={
                kind: ObjectCache(
                    partial(resources.resource, namespace=namespace, kind=kind, needed=rules.observed), self._renewed
                )
                for kind, rules in registry.RULES.items()
            },
            jobs=ObjectCache(partial(workloads.job, namespace=namespace), changed),
            job_sets=ObjectCache(partial(workloads.job_set, namespace=namespace), changed),
            sets=ObjectCache(partial(workloads.stateful_set, namespace=namespace), changed),
            pods=ObjectCache(partial(pods.pod, namespace=namespace), changed),
            mxnet_success=self.config.mxnet_success,
            events={
                reason: ObjectCache(events.event, self._happened, most=events.MOST, age=lambda each: each.at)
                for reason in (*events.REASONS, *([events.FAILED_JOB] if self.config.job_sets else ()))
            },
        )

    def _renewed(self, key: Key) -> None:
        """Put a custom resource that has changed into the queue, and those whose runs wait for it."""
        for each in (key, *self.caches.waiting_for(key)):
            self.queue.add(each, SETTLE_SECONDS)

    def _happened(self, about: Key) -> None:
        """Put the custom resource into the queue to which an object belongs, given by kind and UID, if it is known."""
        if key := self.caches.owner(about[1]):
            self.queue.add(key, SETTLE_SECONDS)

    async def run(self) -> None:
        """Watch and report without end."""
        async with asyncio.TaskGroup() as tasks:
            for each in self._watches():
                tasks.create_task(each.run())
            while not self.caches.complete:
                await asyncio.sleep(SETTLE_SECONDS)
            self._begin()
            tasks.create_task(self._resync())
            for _ in range(HANDS):
                tasks.create_task(self._work())

    def _begin(self) -> None:
        """Record the generation of every custom resource, so that none counts as changed and waits `NEW_SPEC_SECONDS`.

        At the start all objects have been listed, so there are no Jobs to wait for.
        """
        for key in self.caches.all_keys():
            if seen := self.caches.observed(key):
                self._generations[key] = seen.resource.uid, seen.resource.generation
        self.log.info("All objects are known: reporting", resources=len(self._generations))

    def _watches(self) -> Iterator[Watching[Any]]:
        namespace = self.config.namespace
        for kind, cache in self.caches.resources.items():
            yield self._watching(collection(kind, namespace), cache)
        yield self._watching(f"/apis/batch/v1/namespaces/{namespace}/jobs", self.caches.jobs)
        yield self._watching(f"/apis/apps/v1/namespaces/{namespace}/statefulsets", self.caches.sets)
        yield self._watching(f"/api/v1/namespaces/{namespace}/pods", self.caches.pods)
        if self.config.job_sets:
            path = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets"
            yield self._watching(path, self.caches.job_sets)
        else:
            self.caches.job_sets.complete = True

        for reason, events_of in self.caches.events.items():
            yield Watching(
                self.client,
                f"/api/v1/namespaces/{namespace}/events",
                events_of,
                self.log,
                {"fieldSelector": f"reason={reason}"},
                events.MOST_PAGES,
                optional=True,
            )

    def _watching(self, path: str, cache: ObjectCache[Any]) -> Watching[Any]:
        return Watching(self.client, path, cache, self.log)

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                await self.look(key)
            except Exception as error:
                self.log.fault(error, kind=key[0], name=key[1])
                self.queue.add(key, RESYNC_SECONDS / 10)
            finally:
                self.queue.done(key)

    async def look(self, key: Key) -> None:
        """Derive the status of one custom resource from its objects, and write the status if it has changed.

        If it is too early, or if writing fails, put the key into the queue again.
        """
        seen = self.caches.observed(key)
        if seen is None:
            for known in (self._generations, self._not_before, self._backoffs):
                known.pop(key, None)
            return
        if wait := self._wait(key, seen):
            self.queue.add(key, wait)
            return
        status = registry.status(seen)
        if status is None or registry.is_reported(seen, status):
            return
        found = seen.resource
        place = resource(found.kind, found.namespace, found.name)
        answer = await self.client.apply_status(place, resources.with_status(found, status), REPORTER)
        match answer:
            case Refused(status=404):
                return
            case Refused() | Unreachable():
                # With 409 the custom resource has changed or was created again since the status was derived.
                if not isinstance(answer, Refused) or answer.status != 409:
                    self.log.warning("Cannot report", kind=found.kind, name=found.name, error=str(answer))
                self.queue.add(key, self._backoffs.setdefault(key, Backoff()).seconds())
            case now:
                self._backoffs.pop(key, None)
                self._not_before[key] = monotonic() + BETWEEN_SECONDS
                self._remember(key, seen, now)
                before, phase = found.status.get("phase"), status.get("phase")
                if phase != before:
                    self.log.info("Phase", kind=found.kind, name=found.name, before=before, phase=str(phase))

    def _remember(self, key: Key, seen: Observed, now: Manifest) -> None:
        """Put the written custom resource into the cache, unless the watch has delivered it, or a newer one, meanwhile.

        An older one would stay there, and the API server would refuse every later status, which names its version.
        """
        present = self.caches.observed(key)
        if present and present.resource.version == seen.resource.version:
            self.caches.resources[key[0]].put(now)

    def _wait(self, key: Key, seen: Observed) -> float:
        """Return the seconds to wait before the status of a custom resource may be derived; 0 for none."""
        found, now = seen.resource, monotonic()
        generation = (found.uid, found.generation)
        if self._generations.get(key) != generation:
            self._generations[key] = generation
            if found.status.get("observedGeneration") != found.generation:
                self._not_before[key] = now + NEW_SPEC_SECONDS
        return max(0.0, self._not_before.get(key, now) - now)

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(RESYNC_SECONDS)
            for key in self.caches.all_keys():
                self.queue.add(key, random.uniform(0, RESYNC_SECONDS / 10))  # noqa: S311 - no secret
