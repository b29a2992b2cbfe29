"""Specs that delete data when their run starts."""

from collections.abc import Iterator

from stowplan.compiler.diff.change import Danger, Pair, Risk
from stowplan.compiler.kubernetes.fields import annotation, mapping
from stowplan.library.manifest import Json
from stowplan.schema.meta import RUN_ANNOTATION

FIELDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "DataCube": (("executor", "options", "sync"),),
    "Dataset": (("refresh", "delete"),),
    "DatasetTask": (("remove", "paths"), ("sync", "delete")),
    "SampleJob": (("rmrOptions", "paths"), ("syncOptions", "delete-src"), ("syncOptions", "delete-dst")),
}
"""Paths below `spec` of the fields by which a run deletes data, by kind. A test looks up each path in the models."""


def deletions(pair: Pair) -> Iterator[Risk]:
    """Yield a risk if the spec in the custom resource now requests a deletion, or requests it again for a new run."""
    before, after = pair.before or {}, pair.after or {}
    text = _deletion(after)
    if text and (text != _deletion(before) or annotation(before, RUN_ANNOTATION) != annotation(after, RUN_ANNOTATION)):
        yield Risk(Danger.DATA, text)


def _deletion(body: Json) -> str:
    spec, kind = mapping(body, "spec"), body.get("kind")
    fields = FIELDS.get(str(kind), ())
    values = {path[-1]: mapping(spec, *path[:-1]).get(path[-1]) for path in fields}
    if spec.get("terminate") or spec.get("suspend"):
        return ""
    paths = values.get("paths")
    if spec.get("type") == "rmr" or (kind == "DatasetTask" and paths):
        return f"It removes {', '.join(map(str, paths if isinstance(paths, list) else []))} from the dataset."
    if values.get("delete-src") or values.get("delete-dst"):
        return "Its sync deletes what only one side has."
    if values.get("delete"):
        return f"Its {'refresh' if kind == 'Dataset' else 'sync'} deletes what the source lacks."
    return "It deletes what the source lacks." if values.get("sync") else ""
