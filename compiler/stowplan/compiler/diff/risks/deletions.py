"""Specs that delete data when their run starts."""

from collections.abc import Iterator

from stowplan.compiler.diff.change import Danger, Pair, Risk
from stowplan.compiler.kubernetes.fields import annotation, mapping
from stowplan.library.dialects.registry import reading
from stowplan.library.manifest import Json
from stowplan.schema.meta import RUN_ANNOTATION


def deletions(pair: Pair) -> Iterator[Risk]:
    """Yield a risk if the spec in the custom resource now requests a deletion, or requests it again for a new run."""
    before, after = pair.before or {}, pair.after or {}
    text = _deletion(after)
    if text and (text != _deletion(before) or annotation(before, RUN_ANNOTATION) != annotation(after, RUN_ANNOTATION)):
        yield Risk(Danger.DATA, text)


def _deletion(body: Json) -> str:
    spec, loss = mapping(body, "spec"), reading(body.get("kind")).loss(body)
    held = spec.get("terminate") or spec.get("suspend")
    return loss.text if loss and not held else ""
