"""Parsing of manifests that Stowplan wrote.

A committed file is reused only if the inventory lists its digest, but both may be forged. Therefore content that the
emitter never writes (aliases, deep nesting, other types) is refused, and nothing here raises.
"""

from collections.abc import Iterable
from typing import Any

import yaml

from stowplan.compiler.yaml.emitter import emit
from stowplan.library.manifest import Json, Manifest

_DEEPEST = 100


def reread(content: bytes) -> Json | None:
    """Return the body of the object in a generated file; None for content that Stowplan does not write."""
    try:
        if not _is_simple(yaml.parse(content, Loader=yaml.CSafeLoader)):
            return None
        body: Json = yaml.load(content, Loader=yaml.CSafeLoader)
        return body if _is_object(body) else None
    except (yaml.YAMLError, ValueError):
        return None


def _is_simple(events: Iterable[yaml.Event]) -> bool:
    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
            return False
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
    return True


def _is_object(body: Any) -> bool:
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        return False
    meta: Json = body["metadata"]
    texts = [body.get("apiVersion"), body.get("kind"), meta.get("name"), meta.get("namespace", "")]
    labels = [meta.get("labels", {}), meta.get("annotations", {})]
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(each, dict) for each in labels):
        return False
    try:
        return bool(emit(body)) and isinstance(Manifest(body, "").wave, int)
    except (TypeError, ValueError):
        return False
