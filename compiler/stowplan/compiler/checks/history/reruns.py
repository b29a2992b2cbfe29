"""Would an edit delete a run and start a new one?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stowplan.compiler.checks.history.edits import custom_resource, differences
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.kubernetes.fields import annotation, mapping, value_at
from stowplan.compiler.pins.images import key_of
from stowplan.library.builders import gate
from stowplan.library.dialects.reading.floating import COMMIT
from stowplan.library.dialects.registry import reading
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Json
from stowplan.library.values import image_reference, labels
from stowplan.library.values.names import without_hash
from stowplan.schema.diagnostics import FieldPath, Severity, finding
from stowplan.schema.meta import RUN_ANNOTATION, ObjectId, SpecId
from stowplan.schema.remotes.s3_listing import LISTING

_ADDRESSES = ("url", "repo", "uri")
"""Fields beside a revision that say of what it is."""

_Stem = tuple[str, str, str, str]
"""Namespace of a Job, its name without the hash at the end, and kind and name of its spec."""


class Run(NamedTuple):
    """A Job, or another object that starts pods, which is not in the committed output.

    `source` is the user's file. `stem` is equal in all runs of one object, whatever their hashes. `deletes` is True if
    the run removes data: an edit must not repeat such a run. `pins` are what has another digest or commit now.
    """

    id: ObjectId
    spec: SpecId
    source: str
    stem: _Stem
    deletes: bool
    pins: tuple[str, ...] = ()


def new_runs(spec: SpecId, objects: Objects, previous: Mapping[ObjectId, Json]) -> Iterator[Run]:
    """Yield the runs of a spec that `previous`, the bodies of committed objects, lacks.

    Nothing is yielded if the annotation `stowplan.dev/run` of the spec changed, because then the user wants a new run.
    A Job that copies an output again is no run: it trains nothing, and what is there already is not copied. Nor is the
    warmup of a cache that has become larger: it is what the edit is for, and loads what is missing.
    """
    starting = (obj for obj in objects.of_kind(*STARTING_KINDS) if labels.OUTPUT not in obj.labels)
    starting = (obj for obj in starting if not annotation(obj.body, labels.LARGER_CACHE))
    made = [obj for obj in starting if obj.output.manifest.run and obj.id not in previous]
    runs = [obj for obj in made if not gate.is_gate(obj.body)]
    if not runs:
        return
    resource = custom_resource(spec, objects)
    if not _is_requested(resource, previous):
        deletes = _deletes(resource)
        known = previous.get(resource.id) if resource else None
        pins = _moved_pins(known, resource.body) if resource and known else ()
        for obj in runs:
            yield Run(obj.id, spec, obj.source, _stem(obj.id, obj.labels), deletes, pins=pins)


def check(
    graph: ObjectGraph, new: Iterable[Sequence[Run]], previous: Mapping[ObjectId, Json], severity: Severity
) -> list[ObjectFinding]:
    """Return one finding for each spec whose Jobs have another hash in their names than the committed Jobs.

    `new` holds the new runs of each spec, `previous` the bodies of committed objects. The finding about a run that
    removes data is an error, whatever the `severity` of the others. Argo CD would delete the old Jobs, even while they
    execute, and start the new ones.
    """
    old = {
        _stem(known, mapping(body, "metadata", "labels")): known
        for known, body in previous.items()
        if known.kind in STARTING_KINDS and without_hash(known.name) != known.name and not graph.exists(known)
    }
    replaced = ([(old[run.stem], run) for run in runs if run.stem in old] for runs in new)
    return [_finding(jobs, severity) for jobs in replaced if jobs]


def _finding(jobs: Sequence[tuple[ObjectId, Run]], severity: Severity) -> ObjectFinding:
    before, run = jobs[0]
    others = f" (and {len(jobs) - 1} more of this spec)" if len(jobs) > 1 else ""
    because = f" The pin of {' and of '.join(run.pins)} moved." if run.pins else ""
    message = (
        f"The {run.id.kind} takes the place of {before.name}{others}: that run would be deleted and a new one started."
        f"{because}"
    )
    hint = (
        f"If you want a new run, give the annotation {RUN_ANNOTATION} of this spec another value. "
        "If not, undo the edit, in this spec or in the one it refers to. A spec whose work is done can be removed."
    )
    weight = Severity.ERROR if run.deletes else severity
    found = finding("SP542", ("metadata", "name"), message, hint, severity=weight)
    return ObjectFinding(run.id, found, run.spec, run.source)


def _stem(own: ObjectId, found: Json) -> _Stem:
    """Return the stem of the object with the identity `own` and the labels `found`."""
    kind, name = str(found.get(labels.SPEC_KIND, "")), str(found.get(labels.SPEC_NAME, ""))
    return own.namespace, without_hash(own.name), kind, name


def _deletes(resource: Object | None) -> bool:
    """Whether a run of the custom resource must not start again unasked, because it deletes."""
    loss = reading(resource.id.kind).loss(resource.body) if resource else None
    return loss is not None and loss.rerun


def _is_requested(resource: Object | None, previous: Mapping[ObjectId, Json]) -> bool:
    """Whether the run marker of the custom resource differs from the committed one; False for a new resource."""
    if resource is None or resource.id not in previous:
        return False
    return annotation(resource.body, RUN_ANNOTATION) != annotation(previous[resource.id], RUN_ANNOTATION)


def _moved_pins(before: Json, after: Json) -> tuple[str, ...]:
    """Return what has another digest, commit or listing in the custom resource `after` than in `before`, sorted."""
    found = differences(("spec",), before.get("spec"), after.get("spec"))
    return tuple(sorted({name for path, old, new in found for name in _of_leaf(path, old, new, after)}))


def _of_leaf(path: FieldPath, old: Any, new: Any, after: Json) -> Iterator[str]:
    if not isinstance(new, str):
        return
    if path[-1] in ("ref", "revision") and (COMMIT.fullmatch(new) or new.startswith(LISTING)):
        holder = value_at(after, path[:-1])
        yield from (str(holder[each]) for each in _ADDRESSES if each in holder)
    elif isinstance(old, str):
        images = [image_reference.parse(each) for each in (old, new)]
        keys = {key_of(each) for each in images if each}
        if all(images) and len(keys) == 1:
            yield from keys
