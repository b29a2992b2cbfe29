"""Would an edit end a run and start another one?"""

import re
from collections.abc import Mapping
from dataclasses import replace

from stowplan.compiler.checks.edits import custom_resource, edited
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.manifest_fields import annotation, mapping
from stowplan.library import labels
from stowplan.library.manifest import Json
from stowplan.library.names import HASH_LENGTH
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import RUN_ANNOTATION, ObjectId, SpecId

_HASH = re.compile(rf"-[a-z2-7]{{{HASH_LENGTH}}}$")
_RUNS = ("Job", "JobSet")
_Stem = tuple[str, str, str, str]
"""Namespace, name without the hash, kind and name of the spec."""


def check(objects: Objects, previous: Mapping[ObjectId, Json], severity: Severity) -> list[ObjectFinding]:
    """Jobs of a run that are now compiled under another hash: one finding for each spec.

    Argo CD deletes the old Jobs, also running ones, and starts the new ones. It is no finding where the annotation
    `stowplan.dev/run` changed, since that says that a new run is meant.
    """
    old: dict[_Stem, ObjectId] = {}
    for known, body in previous.items():
        if known.kind in _RUNS and not objects.exists(known) and _HASH.search(known.name):
            old[_stem(known, body)] = known
    replaced: dict[SpecId, list[tuple[ObjectId, Object]]] = {}
    for obj in objects.of_kind(*_RUNS):
        spec = obj.output.spec
        before = old.get(_stem(obj.id, obj.body)) if obj.output.manifest.run else None
        if before and spec and obj.id not in previous:
            replaced.setdefault(spec, []).append((before, obj))
    return [
        replace(
            _finding(jobs, Severity.ERROR if _deletes(spec, objects) else severity),
            edits=edited(spec, objects, previous),
        )
        for spec, jobs in replaced.items()
        if not _meant(spec, objects, previous)
    ]


def _stem(own: ObjectId, body: Json) -> _Stem:
    found = mapping(body, "metadata", "labels")
    kind, name = str(found.get(labels.SPEC_KIND, "")), str(found.get(labels.SPEC_NAME, ""))
    return own.namespace, _HASH.sub("", own.name), kind, name


def _finding(jobs: list[tuple[ObjectId, Object]], severity: Severity) -> ObjectFinding:
    before, obj = jobs[0]
    others = f" (and {len(jobs) - 1} more of this spec)" if len(jobs) > 1 else ""
    message = (
        f"The {obj.id.kind} takes the place of {before.name}{others}: that run would be deleted and a new one started."
    )
    hint = (
        f"If you want a new run, give the annotation {RUN_ANNOTATION} of this spec another value. "
        "If not, undo the edit, in this spec or in the one it refers to. A spec whose work is done can be removed."
    )
    return about(obj, "SP542", ("metadata", "name"), message, hint, severity=severity)


def _deletes(spec: SpecId, objects: Objects) -> bool:
    """Whether the run removes data, so that it must not happen again because a dataset that it refers to changed."""
    obj = custom_resource(spec, objects)
    own = mapping(obj.body, "spec") if obj else {}
    options = mapping(own, "syncOptions")
    return own.get("type") == "rmr" or bool(options.get("delete-src") or options.get("delete-dst"))


def _meant(spec: SpecId, objects: Objects, previous: Mapping[ObjectId, Json]) -> bool:
    """Whether the run annotation of the custom resource differs from the one written before."""
    obj = custom_resource(spec, objects)
    if obj is None or obj.id not in previous:
        return False
    return annotation(obj.body, RUN_ANNOTATION) != annotation(previous[obj.id], RUN_ANNOTATION)
