"""Reading of fields of manifests, which may be malformed."""

import re
from functools import lru_cache
from typing import Any

from stowplan.library.manifest import Json, group_of
from stowplan.schema.meta import ObjectId

_WAVE = re.compile(r"[+-]?[0-9]+")


def identity(body: Json, metadata: Json | None = None) -> ObjectId:
    """The identity of an object; missing parts are empty strings. `metadata`: the body's metadata, if already known."""
    own = mapping(body.get("metadata")) if metadata is None else metadata
    group = _group(str(body.get("apiVersion", "")))
    return ObjectId(group, str(body.get("kind", "")), str(own.get("namespace", "")), str(own.get("name", "")))


@lru_cache(maxsize=1024)
def _group(api_version: str) -> str:
    """The group, as one shared string for all objects of the group."""
    return group_of(api_version)


def mapping(body: Any, *keys: str) -> Json:
    """The mapping that `keys` lead to; empty if it does not exist."""
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else {}


def items(body: Any, *keys: str) -> list[Json]:
    """The mappings in the list that `keys` lead to; empty if it does not exist."""
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    if not isinstance(body, list):
        return []
    for item in body:
        if not isinstance(item, dict):
            return [item for item in body if isinstance(item, dict)]
    return body


def annotation(body: Json, key: str) -> str:
    """The value of an annotation; empty if it is missing or not a string."""
    value = mapping(body, "metadata", "annotations").get(key, "")
    return value if isinstance(value, str) else ""


def parts(text: Any) -> tuple[str, ...]:
    """The parts of a comma-separated string, without blanks around them; none for another type."""
    return _parts(text) if isinstance(text, str) and text else ()


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def wave_from(text: Any) -> int:
    """The sync wave of an annotation value; 0 if it is missing or not an integer, as Argo CD reads it."""
    return int(text) if isinstance(text, str) and text and _WAVE.fullmatch(text) else 0
