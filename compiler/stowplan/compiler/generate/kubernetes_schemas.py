"""The schemas of Kubernetes' own types, cut out of the OpenAPI documents that the package kubernetes-validate holds.

That package is only installed where Stowplan is developed. Its documents, one for each minor version, are already
closed against unknown fields.
"""

import json
from importlib import resources
from typing import Any

from stowplan.compiler.kubernetes.list_map_keys import LIST_MAP_KEYS
from stowplan.compiler.kubernetes.rules import FORMATS
from stowplan.compiler.kubernetes.schema_problem import FORM, JsonSchema
from stowplan.schema.platform.settings import KUBERNETES_VERSIONS

_ANNOTATIONS = frozenset({"description", "format", "$schema", "$id", "default"})


def files() -> dict[str, str]:
    """Return a file for each supported minor version of Kubernetes, contents by name: `1.36.json`.

    The module `kubernetes.schemas` describes the format.
    """
    return {f"{kubernetes}.json": _file(document(kubernetes)) for kubernetes in KUBERNETES_VERSIONS}


def document(kubernetes: str) -> dict[str, JsonSchema]:
    """Return the definitions of one minor version, such as `1.36`, by name, as Kubernetes publishes them.

    Raises `ImportError` without the package.
    """
    folder = resources.files("kubernetes_validate") / "kubernetes-json-schema" / f"v{kubernetes}.0-local-strict"
    definitions: dict[str, JsonSchema] = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    return definitions


def _file(document: dict[str, JsonSchema]) -> str:
    """Return the content of a file. Each kind and each definition has its own line, so that people can read a diff."""
    kinds = ",\n".join(f"{compact(kind)}:{compact(name)}" for kind, name in sorted(_kinds(document).items()))
    definitions = ",\n".join(
        f"{compact(name)}:{compact(_trimmed(schema))}" for name, schema in sorted(document.items())
    )
    return f'{{"kinds":{{\n{kinds}\n}},"definitions":{{\n{definitions}\n}}}}\n'


def _kinds(document: dict[str, JsonSchema]) -> dict[str, str]:
    """Return the name of the definition of each kind, by `<apiVersion> <kind>`; kinds of lists are left out."""
    names = {}
    for name, schema in document.items():
        metadata = schema.get("properties", {}).get("metadata", {}).get("$ref", "")
        if metadata.endswith(".ObjectMeta"):
            for entry in schema.get("x-kubernetes-group-version-kind", ()):
                api_version = "/".join(part for part in (entry["group"], entry["version"]) if part)
                names[f"{api_version} {entry['kind']}"] = name
    return names


def _trimmed(schema: JsonSchema) -> JsonSchema:
    """Return a schema without keywords that the validator ignores, and with the bounds that its `format` implies."""
    result: JsonSchema = dict(FORMATS.get(schema.get("format", ""), {}))
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: _trimmed(node) for name, node in value.items()}
        elif key == "items":
            result[key] = _without_null(_trimmed(value))
        elif key == "additionalProperties" and isinstance(value, dict):
            result[key] = _trimmed(value)
        elif key == LIST_MAP_KEYS or not (key in _ANNOTATIONS or key.startswith("x-")):
            result[key] = value
    if schema.get("x-kubernetes-list-type") == "set":
        result["uniqueItems"] = True
    return result


def _without_null(schema: JsonSchema) -> JsonSchema:
    """Return the schema of a list item, changed to refuse null.

    The API server of Kubernetes would read such a null as an empty string, zero or an empty object, which nobody means.
    """
    if "$ref" in schema:
        return {**schema, "not": {"type": "null"}, FORM: "an item"}
    types = schema.get("type")
    return {**schema, "type": [name for name in types if name != "null"]} if isinstance(types, list) else schema


def compact(value: Any) -> str:
    """Return plain data as JSON without blanks, its keys sorted."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
