"""Caches of objects of the API server of Kubernetes, one cache for each kind of object."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.reporter.observed import Observed
from stowplan.agents.reporter.pods import Pod
from stowplan.agents.reporter.resources import Resource
from stowplan.agents.reporter.workloads import Job, JobSet, Key, StatefulSet
from stowplan.schema.agents.reporter_config import MxnetSuccess


class Item(Protocol):
    """An object that belongs to a custom resource, or a custom resource."""

    @property
    def key(self) -> Key:
        """Return the key of the custom resource to which the object belongs."""
        ...


T = TypeVar("T", bound=Item)


@dataclass
class ObjectCache(Generic[T]):
    """The objects of one kind, as far as they belong to custom resources."""

    read: Callable[[Manifest], T | None]
    """Function that parses a manifest; None for an object that does not belong into the cache."""
    changed: Callable[[Key], None]
    """Callback that gets the key of a custom resource each time one of its objects in this cache has changed."""
    complete: bool = False
    """Whether all objects of the kind have been listed once."""
    _by_uid: dict[str, T] = field(default_factory=dict)
    _by_key: dict[Key, dict[str, T]] = field(default_factory=dict)
    _listed: set[str] | None = None
    """UIDs of the objects in the present list so far; None if no list has begun."""

    def begin(self) -> None:
        """Record that a list of all objects begins. Objects that are not `put` until `end` are removed then."""
        self._listed = set()

    def put(self, manifest: Manifest) -> None:
        """Store the present version of an object. If `read` returns None for it, remove the object instead."""
        uid = manifest["metadata"]["uid"]
        if self._listed is not None:
            self._listed.add(uid)
        item = self.read(manifest)
        if item == self._by_uid.get(uid):
            return
        self._drop(uid)
        if item is not None:
            self._by_uid[uid] = item
            self._by_key.setdefault(item.key, {})[uid] = item
            self.changed(item.key)

    def end(self) -> None:
        """Record that the list ends, and remove the objects that it did not contain."""
        for uid in set(self._by_uid) - (self._listed or set()):
            self._drop(uid)
        self._listed = None
        self.complete = True

    def delete(self, manifest: Manifest) -> None:
        """Remove the object with the UID in this manifest."""
        self._drop(manifest["metadata"]["uid"])

    def of(self, key: Key) -> list[T]:
        """Return all objects in this cache that belong to a custom resource."""
        return list(self._by_key.get(key, {}).values())

    def known(self) -> Iterable[Key]:
        """Return the keys of all custom resources that have objects in this cache."""
        return list(self._by_key)

    def _drop(self, uid: str) -> None:
        item = self._by_uid.pop(uid, None)
        if item is None:
            return
        siblings = self._by_key[item.key]
        del siblings[uid]
        if not siblings:
            del self._by_key[item.key]
        self.changed(item.key)


@dataclass(frozen=True)
class Caches:
    """The caches of all kinds of objects that the reporter watches."""

    resources: Mapping[str, ObjectCache[Resource]]
    """Caches of the custom resources, by kind."""
    jobs: ObjectCache[Job]
    job_sets: ObjectCache[JobSet]
    sets: ObjectCache[StatefulSet]
    pods: ObjectCache[Pod]
    mxnet_success: MxnetSuccess
    """The role that decides the success of a distributed MxJob; a setting of the platform."""

    def observed(self, key: Key) -> Observed | None:
        """Return a custom resource with all objects that belong to it; None if the custom resource does not exist."""
        found = self.resources[key[0]].of(key) if key[0] in self.resources else []
        if not found:
            return None
        # A deleted custom resource may remain in the cache for a moment after another of its name was created.
        newest = max(found, key=lambda each: (each.created, int(each.version)))
        return Observed(
            resource=newest,
            jobs=self.jobs.of(key),
            job_sets=self.job_sets.of(key),
            sets=self.sets.of(key),
            pods=self.pods.of(key),
            partitions=self._partitions(newest),
            mxnet_success=self.mxnet_success,
        )

    @property
    def complete(self) -> bool:
        """Return whether the objects of every kind have been listed once."""
        return all(each.complete for each in (*self.resources.values(), *self.workloads))

    @property
    def workloads(self) -> tuple[ObjectCache[Any], ...]:
        return self.jobs, self.job_sets, self.sets, self.pods

    def all_keys(self) -> list[Key]:
        """Return the keys of all custom resources."""
        return [key for each in self.resources.values() for key in each.known()]

    def _partitions(self, resource: Resource) -> int | None:
        name = (resource.spec.get("sampleSetRef") or {}).get("name")
        if not name:
            return None
        referred = self.resources["SampleSet"].of(("SampleSet", str(name)))
        return next((int(each.spec["partitions"]) for each in referred if "partitions" in each.spec), None)
