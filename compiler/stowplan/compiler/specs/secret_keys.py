"""Names of the keys in the Secrets that the repository defines. The values of the keys are never read."""

from collections.abc import Iterable, Iterator
from typing import Any

from stowplan.compiler.diagnostics.document import Document

Keys = dict[tuple[str, str], frozenset[str]]


def defined(documents: Iterable[Document], default_namespace: str) -> Keys:
    """Return the keys of each Secret, ExternalSecret and SealedSecret with known keys, by namespace and name."""
    found: Keys = {}
    for document in documents:
        data = document.data
        metadata = _mapping(data.get("metadata"))
        namespace = str(metadata.get("namespace") or default_namespace)
        for name, keys in _secrets(data, str(metadata.get("name"))):
            found[namespace, name] = keys
    return found


def _secrets(data: dict[str, Any], name: str) -> Iterator[tuple[str, frozenset[str]]]:
    spec = _mapping(data.get("spec"))
    match data.get("kind"):
        case "Secret":
            yield name, frozenset((*_mapping(data.get("data")), *_mapping(data.get("stringData"))))
        case "SealedSecret":
            template = _mapping(_mapping(spec.get("template")).get("metadata"))
            yield str(template.get("name") or name), frozenset(_mapping(spec.get("encryptedData")))
        case "ExternalSecret" if not spec.get("dataFrom"):
            target = _mapping(spec.get("target"))
            if not target.get("template"):
                items = spec.get("data")
                found = items if isinstance(items, list) else []
                keys = frozenset(str(_mapping(item).get("secretKey")) for item in found)
                yield str(target.get("name") or name), keys


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
