"""Facts: what the checks across specs know of one spec, without the bodies of its objects."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from stowplan.compiler.checks.across_specs.registry import CHECKS
from stowplan.compiler.checks.objects.object import Object, SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.kubernetes.fields import items
from stowplan.library.builders.pods import waits
from stowplan.library.dialects.reading.api import RolePod
from stowplan.library.manifest import Json
from stowplan.library.values.labels import ROLE
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.meta import ObjectId
from stowplan.schema.platform.platform import Platform


class Facts(NamedTuple):
    """Summaries and facts of one spec, or of the objects that belong to no spec.

    `objects` are the summaries of all objects. `templates` are pairs of an object of a training job
    and the pod templates that it holds. `collected` are facts about sound objects only, those that fit their schemas.
    """

    objects: tuple[ObjectSummary, ...] = ()
    templates: tuple[tuple[ObjectId, tuple[RolePod, ...]], ...] = ()
    collected: tuple[Any, ...] = ()


def facts_of(found: SpecObjects, unsound: Sequence[Object] = ()) -> Facts:
    """Return the facts of the objects of one spec; `unsound` are its objects that do not fit their schemas."""
    sound = found.objects
    trains = found.spec is not None and found.spec.kind in TRAINING_KINDS
    return Facts(
        (*(obj.summary for obj in sound), *(obj.unsound_summary for obj in unsound)),
        tuple((obj.id, tuple(roles_of(obj))) for obj in (*sound, *unsound) if obj.pods) if trains else (),
        tuple(fact for check in CHECKS for fact in check.collect(found)),
    )


def roles_of(obj: Object) -> Iterator[RolePod]:
    """Yield the pod of each role in an object of a training job; pods without the label of a role are left out."""
    for pod in obj.training_pods:
        if role := pod.labels.get(ROLE):
            init, own = items(pod.spec, "initContainers"), items(pod.spec, "containers")
            yield RolePod(pod.path, str(role), _names(init), _names(own), sum(map(waits.is_ours, init)))


def _names(containers: Iterable[Json]) -> tuple[str, ...]:
    return tuple(str(each.get("name")) for each in containers)


def graph_of(parts: Iterable[Facts], platform: Platform) -> ObjectGraph:
    """Return the graph of all objects of a program, from the facts of each spec."""
    known = tuple(parts)
    facts: defaultdict[type, list[Any]] = defaultdict(list)
    for fact in chain.from_iterable(part.collected for part in known):
        facts[type(fact)].append(fact)
    return ObjectGraph(chain.from_iterable(part.objects for part in known), facts, platform)
