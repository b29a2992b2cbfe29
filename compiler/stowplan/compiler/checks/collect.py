"""What the checks across specs need to know of one spec's objects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from stowplan.compiler.checks.across_specs import applications, dangling, volumes
from stowplan.compiler.checks.facts.facts import (
    Brought,
    Claim,
    Fact,
    Facts,
    Origin,
    PodLabels,
    Project,
    Reference,
    Selector,
    Volume,
)
from stowplan.compiler.checks.facts.outlines import outline_of
from stowplan.compiler.checks.objects import references
from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.checks.objects.sync_phases import HOOK, is_awaited, phase_of
from stowplan.compiler.checks.objects.template_fields import templates_of
from stowplan.compiler.checks.per_spec import protection, selectors
from stowplan.compiler.checks.per_spec.custom_resources import defines
from stowplan.compiler.checks.pods import namespace_levels
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.manifest import ExternalReference
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.platform import Platform


def facts_of(spec: SpecId | None, fit: Sequence[Object], unfit: Sequence[Object], platform: Platform) -> Facts:
    """The facts of all objects of a spec, or of those that no spec made.

    What a spec has for itself is left out: references and selectors that lead to objects of the same spec.
    """
    found = _Found(platform)
    found.externals = {(each.kind, each.namespace, each.name) for given in _externals(fit) for each in given}
    sound = _facts(fit, sound=True)
    built_in = applications.built_in(platform.kubernetes_version)
    for fact, obj in zip(sound, fit, strict=True):
        found.add(fact, obj, custom=obj.kind not in built_in)
    own = {fact.id: fact for fact in sound} if spec else {}
    trains = spec is not None and spec.kind in TRAINING_KINDS
    return Facts(
        objects=(*sound, *_facts(unfit, sound=False)),
        externals=tuple(sorted(found.externals)),
        references=tuple(
            [Reference(fact, *each) for fact, each in found.references if not found.settles(fact, each, own)]
        ),
        selectors=tuple(_unmatched(spec, fit, found)),
        pods=tuple(found.pods),
        contents=tuple(found.contents.items()),
        replicas=tuple(found.replicas.items()),
        claims=tuple(found.claims),
        volumes=tuple(found.volumes),
        holding=tuple(found.holding),
        custom=tuple(found.custom),
        definitions=tuple(found.definitions),
        projects=tuple(found.projects),
        levels=tuple(found.levels),
        brought=tuple(found.brought),
        templates=tuple([(obj.id, templates_of(obj)) for obj in (*fit, *unfit) if obj.pods]) if trains else (),
        outline=outline_of(sound),
    )


def _unmatched(spec: SpecId | None, fit: Sequence[Object], found: "_Found") -> list[Selector]:
    if spec is None:
        return selectors.unmatched(found.selectors, found.pods)
    labels = [pod.labels for obj in fit for pod in obj.pods] if found.selectors else []
    return [each for each in found.selectors if not selectors.any_matches(each.value, labels)]


class _Found:
    """The facts of sound objects, as they are found."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.externals: set[tuple[str, str, str]] = set()
        self.references: list[tuple[Fact, references.Found]] = []
        self.selectors: list[Selector] = []
        self.pods: list[PodLabels] = []
        self.contents: dict[ObjectId, tuple[str, ...]] = {}
        self.replicas: dict[ObjectId, int] = {}
        self.claims: list[Claim] = []
        self.volumes: list[Volume] = []
        self.holding: list[tuple[Fact, str]] = []
        self.custom: list[Fact] = []
        self.definitions: list[tuple[Fact, tuple[str, str]]] = []
        self.projects: list[Project] = []
        self.levels: list[tuple[str, str]] = []
        self.brought: list[Brought] = []

    def add(self, fact: Fact, obj: Object, *, custom: bool) -> None:
        """Add what is to be known of an object."""
        kind = obj.kind[1]
        if obj.pods or kind in references.REFERRING:
            self.references += [(fact, each) for each in references.references_of(obj.id, obj.body, obj.pods)]
        if obj.pods or kind in selectors.SELECTING:
            self.selectors += selectors.selectors_of(fact, obj)
        if obj.pods:
            self.pods += [_labels(obj.id.namespace, pod.labels) for pod in obj.pods]
            self.brought += namespace_levels.brought_by(fact, obj, self.platform)
        if obj.sync_options:
            self.holding += [(fact, option) for option in protection.holding(obj)]
        if custom and applications.needs_definition(obj):
            self.custom.append(fact)
        if kind in _OF_KIND:
            _OF_KIND[kind](self, fact, obj)

    def settles(self, owner: Fact, found: references.Found, own: Mapping[ObjectId, Fact]) -> bool:
        """Whether a reference leads to an object of the same spec that has what is asked for, and is not later."""
        name, _, key, ordinal = found
        target = own.get(name)
        if target is None or (target.wave > owner.wave and target.application == owner.application):
            return False
        if not key and ordinal is None:
            return True
        keys, replicas = self.contents.get(name, ()), self.replicas.get(name, 1)
        return not any(dangling.missing(Reference(owner, *found), keys, replicas))

    def config_map(self, fact: Fact, obj: Object) -> None:
        self.contents[fact.id] = (*mapping(obj.body, "data"), *mapping(obj.body, "binaryData"))

    def stateful_set(self, fact: Fact, obj: Object) -> None:
        replicas = mapping(obj.body, "spec").get("replicas")
        self.replicas[fact.id] = 1 if replicas is None else int(replicas)

    def claim(self, fact: Fact, obj: Object) -> None:
        claim = volumes.claim_of(fact, obj) if not fact.id.group else None
        self.claims += [claim] if claim else []

    def volume(self, fact: Fact, obj: Object) -> None:
        self.volumes += [volumes.volume_of(fact, obj)] if not fact.id.group else []

    def definition(self, fact: Fact, obj: Object) -> None:
        self.definitions.append((fact, defines(obj.body)))

    def project(self, fact: Fact, obj: Object) -> None:
        self.projects.append(applications.project_of(fact, obj.body))

    def namespace(self, fact: Fact, obj: Object) -> None:
        self.levels.append((fact.id.name, namespace_levels.level_of(obj)))


_OF_KIND: dict[str, Callable[[_Found, Fact, Object], None]] = {
    "AppProject": _Found.project,
    "ConfigMap": _Found.config_map,
    "CustomResourceDefinition": _Found.definition,
    "Namespace": _Found.namespace,
    "PersistentVolume": _Found.volume,
    "PersistentVolumeClaim": _Found.claim,
    "StatefulSet": _Found.stateful_set,
}


def _facts(objects: Sequence[Object], *, sound: bool) -> list[Fact]:
    """Those that come one after the other from the same spec have one origin."""
    found: list[Fact] = []
    origin = Origin(None, "")
    for obj in objects:
        if obj.spec is not origin.spec or obj.source is not origin.source:
            origin = Origin(obj.spec, obj.source)
        found.append(_fact(obj, origin, sound=sound))
    return found


def _fact(obj: Object, origin: Origin, *, sound: bool) -> Fact:
    hook = obj.annotations.get(HOOK)
    phase = phase_of(str(hook or ""))
    gated = sound and is_awaited(obj.kind, obj.body)
    size = len(obj.text) if sound else 0
    return Fact(obj.id, obj.output.path, origin, obj.authored, sound, phase, obj.wave, gated, size)


def _externals(objects: Sequence[Object]) -> Iterator[tuple[ExternalReference, ...]]:
    """What is known to come from elsewhere: the same tuple for all objects of a unit."""
    last: tuple[ExternalReference, ...] = ()
    for obj in objects:
        if obj.output.externals is not last:
            last = obj.output.externals
            yield last


def _labels(namespace: str, labels: Mapping[str, str]) -> PodLabels:
    return PodLabels(namespace, _same(tuple(labels)), tuple(labels.values()))


@lru_cache(maxsize=1024)
def _same(names: tuple[str, ...]) -> tuple[str, ...]:
    """The first tuple of these names, so that it is kept once for all pods."""
    return names
