"""Was an object that holds data removed from the output?"""

from collections.abc import Iterator, Mapping, Sequence

from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.kubernetes.fields import annotation, spec_of
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.diagnostics import Finding, Severity, finding
from stowplan.schema.meta import ObjectId, SpecId

_KINDS = frozenset({"PersistentVolume", "PersistentVolumeClaim"})


def check(graph: ObjectGraph, previous: Mapping[ObjectId, Json], severity: Severity) -> list[ObjectFinding]:
    """Return one finding for each spec with claims or volumes that are committed, but no longer compiled.

    Argo CD leaves such objects in the cluster. A finding is about the claim if there is one, otherwise the volume.
    """
    gone: dict[SpecId | ObjectId, list[ObjectId]] = {}
    for known, body in _gone(graph, previous):
        if annotation(body, labels.SYNC_OPTIONS) == labels.REMOVE:
            # A Dataset with `retain: false`: its spec has said before that these objects go with it.
            continue
        gone.setdefault(spec_of(body) or known, []).append(known)
    found = []
    for spec, lost in gone.items():
        first = max(lost)
        source = annotation(previous[first], labels.SOURCE)
        found.append(ObjectFinding(first, _finding(lost, severity), spec if isinstance(spec, SpecId) else None, source))
    return found


def renamed(graph: ObjectGraph, previous: Mapping[ObjectId, Json]) -> frozenset[SpecId]:
    """Return the specs that are still compiled, but whose committed claims or volumes are gone or have other names."""
    gone = {spec for _, body in _gone(graph, previous) if (spec := spec_of(body))}
    return frozenset(gone & {fact.spec for fact in graph}) if gone else frozenset()


def _gone(graph: ObjectGraph, previous: Mapping[ObjectId, Json]) -> Iterator[tuple[ObjectId, Json]]:
    for known, body in previous.items():
        if known.kind in _KINDS and not known.group and not graph.exists(known):
            yield known, body


def _finding(lost: Sequence[ObjectId], severity: Severity) -> Finding:
    others = [str(other) for other in sorted(lost)[:-1]]
    what = f"It and {' and '.join(others)} are" if others else "It is"
    message = f"{what} no longer compiled. Argo CD leaves what holds data in the cluster."
    hint = "Bring the spec back, or delete the objects by hand once the data is not needed any more."
    if severity is Severity.ERROR:
        hint += " To confirm the removal, delete their files from the output."
    return finding("SP541", (), message, hint, severity=severity)
