"""Reading of manifests, also of those that are not what they should be."""

import re
from typing import Any

from stowplan.library import labels
from stowplan.library.manifest import Json, group_of
from stowplan.schema.meta import ObjectId

_WAVE = re.compile(r"[+-]?[0-9]+")


def identity(body: Json) -> ObjectId:
    """The identity of an object; empty texts for what it lacks."""
    metadata = mapping(body, "metadata")
    name, namespace = metadata.get("name", ""), metadata.get("namespace", "")
    return ObjectId(group_of(str(body.get("apiVersion", ""))), str(body.get("kind", "")), str(namespace), str(name))


def mapping(body: Any, *keys: str) -> Json:
    """The mapping that `keys` lead to; an empty one where there is none."""
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else {}


def items(body: Any, *keys: str) -> list[Json]:
    """The mappings in the list that `keys` lead to; empty where there is none."""
    found = mapping(body, *keys[:-1]).get(keys[-1])
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def annotation(body: Json, key: str) -> str:
    """The text of an annotation, empty where there is none."""
    value = mapping(body, "metadata", "annotations").get(key, "")
    return value if isinstance(value, str) else ""


def options(body: Json, key: str) -> list[str]:
    """The parts of a comma-separated annotation of Argo CD, which ignores blanks around them."""
    return [part.strip() for part in annotation(body, key).split(",") if part.strip()]


def sync_options(body: Json) -> list[str]:
    return options(body, labels.SYNC_OPTIONS)


def wave_of(body: Json) -> int:
    """The sync wave; 0 where it is missing or no integer, as Argo CD reads it."""
    text = annotation(body, labels.SYNC_WAVE)
    return int(text) if _WAVE.fullmatch(text) else 0
