"""All objects of one run, each with what every check asks of it, found by identity, kind and Application."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stowplan.compiler.checks.pods import Pod, pods_of
from stowplan.compiler.checks.references import Reference, references_of
from stowplan.compiler.manifest_fields import identity, mapping, wave_of
from stowplan.compiler.model import Output
from stowplan.library import labels
from stowplan.library.builders import wait_container
from stowplan.library.builders.await_pod import CONTAINER
from stowplan.library.dialects.training_job_etcd import ETCD
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId

TRAINING_KINDS = frozenset({"MxJob", "PaddleJob", "TrainingJob"})
"""Kinds of spec whose pods are users' templates."""


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """One object of the output.

    `authored` says that we wrote it, rather than a user or an extension of the platform. `application` is the first
    folder of its path (`crds`, `_cluster`, `argocd` or a namespace), which one Application of Argo CD syncs. `text`
    is the body as JSON, for searches that need no path.
    """

    output: Output
    body: Json
    id: ObjectId
    kind: tuple[str, str]
    authored: bool
    application: str
    wave: int
    pods: tuple[Pod, ...]
    text: str

    @property
    def authored_pods(self) -> tuple[Pod, ...]:
        """What we wrote of the pods: all of our agents', of a training job's only the containers beside the user's."""
        if not self.authored:
            return ()
        spec = self.output.spec
        if spec is None or spec.kind not in TRAINING_KINDS:
            return self.pods
        ours = (CONTAINER, ETCD) if spec.kind == "TrainingJob" else (CONTAINER,)
        return tuple(_only(pod, ours) for pod in self.pods)

    @property
    def brought_pods(self) -> tuple[Pod, ...]:
        """Pods that a user described in a training job."""
        spec = self.output.spec
        return self.pods if spec and spec.kind in TRAINING_KINDS else ()


def _only(pod: Pod, names: Sequence[str]) -> Pod:
    """The pod with nothing but the containers of these names, and the one that waits for a dataset."""
    ours = tuple(
        (path, container)
        for path, container in pod.containers
        if container.get("name") in names or wait_container.is_ours(container)
    )
    return replace(pod, metadata={}, spec={}, containers=ours)


def read(output: Output) -> Object:
    """The object of an output; parts that are missing or of a wrong type are empty."""
    body = output.manifest.body
    own = identity(body)
    managed_by = mapping(body, "metadata", "labels").get(labels.MANAGED_BY)
    return Object(
        output=output,
        body=body,
        id=own,
        kind=(own.group, own.kind),
        authored=output.spec is not None or managed_by == "stowplan",
        application=output.path.partition("/")[0],
        wave=wave_of(body),
        pods=tuple(pods_of(body)),
        text=json.dumps(body, ensure_ascii=False),
    )


class Objects:
    """The objects that fit their schemas. Of the others it is only known that they exist.

    Iterating gives the sound ones, so checks need not doubt the types of built-in kinds.
    """

    def __init__(self, sound: Sequence[Object], others: Sequence[Object] = ()) -> None:
        self._sound = tuple(sound)
        self._by_id = {obj.id: obj for obj in sound}
        self._others = {obj.id for obj in others}
        self._by_kind: dict[str, list[Object]] = {}
        self._applications: dict[str, list[Object]] = {}
        for obj in sound:
            self._by_kind.setdefault(obj.id.kind, []).append(obj)
            self._applications.setdefault(obj.application, []).append(obj)
        self._references = {obj.id: tuple(references_of(obj.id, obj.body, obj.pods)) for obj in sound}
        self._last = {name: max(members, key=lambda o: o.wave) for name, members in self._applications.items()}

    def __iter__(self) -> Iterator[Object]:
        return iter(self._sound)

    def find(self, wanted: ObjectId) -> Object | None:
        """The sound object of that identity, if there is one."""
        return self._by_id.get(wanted)

    def references(self, obj: Object) -> tuple[Reference, ...]:
        """What a sound object refers to."""
        return self._references[obj.id]

    def exists(self, wanted: ObjectId) -> bool:
        """Whether there is an object of that identity, sound or not."""
        return wanted in self._by_id or wanted in self._others

    def of_kind(self, *kinds: str) -> Iterator[Object]:
        """The objects of these kinds, whatever their group."""
        for kind in kinds:
            yield from self._by_kind.get(kind, ())

    @property
    def applications(self) -> dict[str, list[Object]]:
        """The objects by Application."""
        return self._applications

    def last(self, obj: Object) -> Object:
        """An object of the same Application that stands in its highest wave."""
        return self._last[obj.application]
