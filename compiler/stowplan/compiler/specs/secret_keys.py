"""Names of the keys in the Secrets that the repository defines. The values of the keys are never read."""

from collections.abc import Iterable, Iterator
from typing import Any

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.kubernetes.fields import items, mapping, namespace_and_name

Keys = dict[tuple[str, str], frozenset[str]]


def defined(documents: Iterable[Document], default_namespace: str) -> Keys:
    """Return the keys of each Secret that a Secret, ExternalSecret or SealedSecret makes, by its namespace and name.

    An ExternalSecret with `dataFrom` or a template is left out, because its keys are not known.
    """
    found: Keys = {}
    for document in documents:
        namespace, own = namespace_and_name(document.data, default_namespace)
        for name, keys in _secrets(document.data, own):
            found[namespace, name] = keys
    return found


def _secrets(data: dict[str, Any], name: str) -> Iterator[tuple[str, frozenset[str]]]:
    spec = mapping(data, "spec")
    match data.get("kind"):
        case "Secret":
            yield name, frozenset((*mapping(data, "data"), *mapping(data, "stringData")))
        case "SealedSecret":
            template = mapping(spec, "template", "metadata")
            yield str(template.get("name") or name), frozenset(mapping(spec, "encryptedData"))
        case "ExternalSecret" if not spec.get("dataFrom"):
            target = mapping(spec, "target")
            if not target.get("template"):
                keys = frozenset(str(item.get("secretKey")) for item in items(spec, "data"))
                yield str(target.get("name") or name), keys
