"""Caches of objects of the API server of Kubernetes, one cache for each kind of object."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.reporter.objects import events
from stowplan.agents.reporter.objects.events import Event
from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.objects.pods import Pod
from stowplan.agents.reporter.objects.resources import Resource
from stowplan.agents.reporter.objects.workloads import Job, JobSet, Key, StatefulSet
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
    """Callback that `put`, `end` and `delete` call with the key of each custom resource whose object has changed."""
    complete: bool = False
    """Whether all objects of the kind have been listed once."""
    most: int | None = None
    """Maximum number of objects; None for no limit."""
    age: Callable[[T], str] = lambda _: ""
    """Function that returns the sort key by which objects beyond `most` are removed: the lowest first."""
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
        if self.most is not None and len(self._by_uid) > self.most:
            self._drop(min(self._by_uid, key=lambda each: self.age(self._by_uid[each])))

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

    def by_uid(self, key: Key) -> Mapping[str, T]:
        """Return all objects in this cache that belong to a custom resource, by UID."""
        return self._by_key.get(key, {})

    def all(self) -> list[T]:
        """Return all objects in this cache."""
        return list(self._by_uid.values())

    def owner(self, uid: str) -> Key | None:
        """Return the key of the custom resource to which the object with this UID belongs; None if it is unknown."""
        item = self._by_uid.get(uid)
        return None if item is None else item.key

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


def _keys(gate: str) -> list[Key]:
    """Return the custom resources that the annotation of a closed run names, such as `Dataset imagenet, DataCube w`."""
    words = (each.strip().partition(" ") for each in gate.split(","))
    return [(kind, name) for kind, _, name in words if name]


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
    events: Mapping[str, ObjectCache[Event]] = field(default_factory=dict)
    """Caches of the events about other objects, by reason. The key of an event is kind and UID of the object."""

    def observed(self, key: Key) -> Observed | None:
        """Return a custom resource with all objects that belong to it; None if the custom resource does not exist."""
        found = self.resources[key[0]].of(key) if key[0] in self.resources else []
        if not found:
            return None
        # A deleted custom resource may remain in the cache for a moment after another of its name was created.
        newest = max(found, key=lambda each: (each.created, int(each.version)))
        pods = [self._pod(uid, pod) for uid, pod in self.pods.by_uid(key).items()]
        jobs = [self._job(uid, job, pods) for uid, job in self.jobs.by_uid(key).items()]
        return Observed(
            resource=newest,
            jobs=jobs,
            job_sets=[self._job_set(uid, each, jobs) for uid, each in self.job_sets.by_uid(key).items()],
            sets=[self._set(uid, each, pods) for uid, each in self.sets.by_uid(key).items()],
            pods=pods,
            partitions=self._partitions(newest),
            failures=tuple(self._failures(key)),
            mxnet_success=self.mxnet_success,
        )

    def waiting_for(self, key: Key) -> list[Key]:
        """Return the keys of all custom resources whose closed runs wait for the custom resource `key`."""
        closed: Iterable[Job | JobSet] = [*self.jobs.all(), *self.job_sets.all()]
        return [each.key for each in closed if each.gate and key in _keys(each.gate)]

    def _failures(self, key: Key) -> Iterator[str]:
        """Yield a sentence for each custom resource that has failed, and that the closed run of `key` waits for."""
        own: Iterable[Job | JobSet] = [*self.jobs.of(key), *self.job_sets.of(key)]
        for kind, name in dict.fromkeys(wait for each in own for wait in _keys(each.gate)):
            for each in self.resources[kind].of((kind, name)) if kind in self.resources else ():
                conditions = {str(one.get("type")): one for one in each.status.get("conditions") or ()}
                failed = conditions.get("Failed") or {}
                if each.status.get("phase") == "SyncFailed":
                    failed = conditions.get("Ready") or {"status": "True"}
                elif failed.get("status") != "True":
                    continue
                why = failed.get("message") or failed.get("reason") or ""
                yield f"{kind} {name} has failed{': ' if why else ''}{why}"

    @property
    def complete(self) -> bool:
        """Return whether the objects of every kind have been listed once."""
        caches = (*self.resources.values(), *self.workloads, *self.events.values())
        return all(each.complete for each in caches)

    @property
    def workloads(self) -> tuple[ObjectCache[Any], ...]:
        """Return the caches of Jobs, JobSets, StatefulSets and pods."""
        return self.jobs, self.job_sets, self.sets, self.pods

    def all_keys(self) -> list[Key]:
        """Return the keys of all custom resources."""
        return [key for each in self.resources.values() for key in each.known()]

    def owner(self, uid: str) -> Key | None:
        """Return the key of the custom resource to which a pod or workload belongs; None if it is unknown."""
        return next((key for each in self.workloads if (key := each.owner(uid))), None)

    def _about(self, kind: str, uid: str) -> list[Event]:
        return [event for each in self.events.values() for event in each.of((kind, uid))]

    def _pod(self, uid: str, pod: Pod) -> Pod:
        if pod.mounted or not (found := self._about("Pod", uid)):
            return pod
        return replace(pod, obstacle=events.of_pod(found, placed=bool(pod.node)))

    def _job(self, uid: str, job: Job, pods: Sequence[Pod]) -> Job:
        if not (found := self._about("Job", uid)):
            return job
        own = [pod for pod in pods if pod.job == job.name]
        missing = sum(not pod.is_over for pod in own) + job.succeeded < job.parallelism
        waits = missing and not job.suspended and not job.conditions
        return replace(job, obstacle=events.of_workload(found, missing=waits, created=[pod.created for pod in own]))

    def _job_set(self, uid: str, job_set: JobSet, jobs: Sequence[Job]) -> JobSet:
        if not (found := self._about("JobSet", uid)):
            return job_set
        own = [job.created for job in jobs if job.owner == job_set.name]
        missing = len(own) < len(job_set.sizes) and not job_set.conditions
        return replace(job_set, obstacle=events.of_workload(found, missing=missing, created=own))

    def _set(self, uid: str, found_set: StatefulSet, pods: Sequence[Pod]) -> StatefulSet:
        if not (found := self._about("StatefulSet", uid)):
            return found_set
        own = [pod.created for pod in pods if not pod.job]
        missing = len(own) < found_set.replicas
        return replace(found_set, obstacle=events.of_workload(found, missing=missing, created=own))

    def _partitions(self, resource: Resource) -> int | None:
        """Return the number of cache nodes of the dataset that a task names; None if none is known."""
        for reference, kind in (("sampleSetRef", "SampleSet"), ("datasetRef", "Dataset")):
            name = (resource.spec.get(reference) or {}).get("name")
            for each in self.resources[kind].of((kind, str(name))) if name else ():
                nodes = each.spec.get("partitions") or (each.spec.get("cache") or {}).get("nodes")
                if nodes:
                    return int(nodes)
        return None
