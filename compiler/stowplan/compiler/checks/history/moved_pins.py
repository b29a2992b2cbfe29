"""The pins that moved since the committed output, by the custom resource of a spec: they are a reason for a new run."""

from collections.abc import Iterator
from typing import Any

from stowplan.compiler.checks.history.edits import differences
from stowplan.compiler.pins.images import key_of
from stowplan.library.dialects.reading.floating import COMMIT
from stowplan.library.manifest import Json
from stowplan.library.values import image_reference
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.remotes.s3_listing import LISTING

_ADDRESSES = ("url", "repo", "uri")
"""Fields beside a revision that say of what it is."""


def moved(before: Json, after: Json) -> tuple[str, ...]:
    """Return what has another digest, commit or listing in the custom resource `after` than in `before`, sorted."""
    found = differences(("spec",), before.get("spec"), after.get("spec"))
    return tuple(sorted({name for path, old, new in found for name in _of_leaf(path, old, new, after)}))


def _of_leaf(path: FieldPath, old: Any, new: Any, after: Json) -> Iterator[str]:
    if not isinstance(new, str):
        return
    if path[-1] in ("ref", "revision") and (COMMIT.fullmatch(new) or new.startswith(LISTING)):
        holder = _at(after, path[:-1])
        yield from (str(holder[each]) for each in _ADDRESSES if each in holder)
    elif isinstance(old, str):
        images = [image_reference.parse(each) for each in (old, new)]
        keys = {key_of(each) for each in images if each}
        if all(images) and len(keys) == 1:
            yield from keys


def _at(body: Any, path: FieldPath) -> Any:
    for part in path:
        body = body[part]
    return body
