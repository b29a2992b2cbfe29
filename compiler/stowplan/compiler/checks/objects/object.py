"""Objects of the output, with the values that the checks read from them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import orjson

from stowplan.compiler.checks.objects.finding import OutputObject
from stowplan.compiler.checks.objects.pods import POD_KINDS, Pod, pods_of
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.checks.objects.sync_phases import HOOK, is_awaited, phase_of
from stowplan.compiler.diagnostics.locations import is_platform_file
from stowplan.compiler.kubernetes.fields import identity, parts, wave_from
from stowplan.compiler.model import OutputFile
from stowplan.library.builders import gate
from stowplan.library.builders.pods import waits
from stowplan.library.builders.pods.await_pod import CONTAINER
from stowplan.library.dialects.registry import pods as pods_of_kind
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform


class Object:
    """One object of the output; attributes whose part of the body is missing or of a wrong type are empty.

    `kind` is group and kind, `source` the path of the user's file, and `wave` the sync wave, 0 without one.
    `sync_options` are the single options, such as `Prune=false`. `spec` is the spec that the object was compiled from,
    or None. `authored` is True for objects that Stowplan writes, False for those of users and extensions.
    `authored_pods` are the parts of pods that Stowplan writes: the whole pods of agents, and those containers of a
    training job that are not the user's. `training_pods` are the pods of a training job, which a user describes; the
    pods that copy its outputs are not among them. `json` is the body as JSON, for searches without a path. All values
    are read once, because about thirty checks use them.
    """

    def __init__(self, output: OutputFile) -> None:
        body = output.manifest.body
        metadata: Json = found if isinstance(found := body.get("metadata"), dict) else {}
        annotations: Json = found if isinstance(found := metadata.get("annotations"), dict) else {}
        try:
            own = output.manifest.id
        except (AttributeError, KeyError, TypeError):  # metadata without a name, or something else in its place
            own = identity(body)
        self.output = output
        self.spec: SpecId | None = output.spec
        self.source = output.source
        self.body: Json = body
        self.metadata = metadata
        self.labels: Json = found if isinstance(found := metadata.get("labels"), dict) else {}
        self.annotations = annotations
        self.id = own
        self.kind: tuple[str, str] = own[:2]
        self.authored = output.spec is not None or self.labels.get(labels.MANAGED_BY) == "stowplan"
        self.wave = wave_from(annotations[labels.SYNC_WAVE]) if labels.SYNC_WAVE in annotations else 0
        self.sync_options = parts(annotations[labels.SYNC_OPTIONS]) if labels.SYNC_OPTIONS in annotations else ()
        self.pods: tuple[Pod, ...] = pods_of(body) if own.kind in POD_KINDS else ()
        trains = output.spec is not None and output.spec.kind in TRAINING_KINDS
        trains = trains and not (labels.OUTPUT in self.labels or gate.is_gate(body))
        self.training_pods: tuple[Pod, ...] = self.pods if trains else ()
        self.authored_pods: tuple[Pod, ...] = ()
        if self.authored:
            self.authored_pods = _authored(self.pods, output.spec) if trains else self.pods
        self.json: bytes = _json(body)

    @cached_property
    def summary(self) -> ObjectSummary:
        """The summary of an object that fits its schema; other objects have `unsound_summary`."""
        return self._summarise(sound=True)

    @property
    def unsound_summary(self) -> ObjectSummary:
        """The summary of an object that does not fit its schema."""
        return self._summarise(sound=False)

    def _summarise(self, *, sound: bool) -> ObjectSummary:
        return ObjectSummary(
            self.id,
            self.output.path,
            self.spec,
            self.source,
            self.authored,
            sound,
            phase_of(str(self.annotations.get(HOOK) or "")),
            self.wave,
            sound and is_awaited(self.kind, self.body),
            len(self.json) if sound else 0,
        )

    def users_pods(self, platform: Platform) -> tuple[Pod, ...]:
        """Return the pods if a user described them, in a training job or in a plain object; otherwise none."""
        return self.pods if self.pods and is_plain(self, platform) else self.training_pods


def is_plain(obj: OutputObject, platform: Platform) -> bool:
    """Whether the object is a plain one: a Kubernetes object that a user wrote in a file among the specs."""
    ours = obj.spec is not None or not obj.source or is_platform_file(obj.source)
    return not ours and all(obj.source != each.path for each in platform.extensions)


def _json(body: Json) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:  # half of a surrogate pair, or a number beyond 64 bits, in an object that no schema has checked
        return json.dumps(body).encode()


def _authored(pods: tuple[Pod, ...], spec: SpecId | None) -> tuple[Pod, ...]:
    """Return the parts of a training job's pods that Stowplan writes."""
    ours = (CONTAINER, *pods_of_kind(spec).containers)
    return tuple([_only(pod, ours) for pod in pods])


def _only(pod: Pod, names: Sequence[str]) -> Pod:
    """Return the pod with only the containers of these names and the init containers that wait.

    All other fields of the pod are empty, because a user wrote them.
    """
    ours = [each for each in pod.containers if each[1].get("name") in names or waits.is_ours(each[1])]
    return Pod(pod.path, pod.spec_path, {}, {}, {}, [], tuple(ours))


class Objects:
    """Objects that fit their schemas, so checks can rely on the types of built-in kinds."""

    def __init__(self, sound: Iterable[Object]) -> None:
        self._sound = tuple(sound)
        self._by_kind: dict[str, list[Object]] = {}
        for obj in self._sound:
            self._by_kind.setdefault(obj.kind[1], []).append(obj)
        self.with_pods: list[Object] = [obj for obj in self._sound if obj.pods]
        self.json: bytes = b"\n".join([obj.json for obj in self._sound])
        """The JSON of all objects. A word that is not in it is in no object, so checks can skip all objects."""

    def __iter__(self) -> Iterator[Object]:
        return iter(self._sound)

    def of_kind(self, *kinds: str) -> list[Object]:
        """Return the objects of these kinds, of any API group, in the order in which the kinds are given."""
        found: list[Object] = []
        for kind in kinds:
            if kind in self._by_kind:
                found += self._by_kind[kind]
        return found


class SpecObjects(NamedTuple):
    """The objects of one spec that fit their schemas; if `spec` is None, the objects that belong to no spec."""

    spec: SpecId | None
    objects: Objects
    platform: Platform
