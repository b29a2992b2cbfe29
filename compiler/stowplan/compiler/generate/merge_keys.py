"""How Kubernetes' strategic merge treats the fields of pod templates, cut out of its OpenAPI documents."""

import json

from stowplan.compiler.generate.kubernetes_schemas import compact, document
from stowplan.compiler.kubernetes.schema_problem import JsonSchema
from stowplan.compiler.kubernetes.schemas import PREFIX
from stowplan.schema.platform.settings import KUBERNETES_VERSIONS

_ROOT = "io.k8s.api.core.v1.PodTemplateSpec"
_STRATEGY = "x-kubernetes-patch-strategy"
_KEY = "x-kubernetes-patch-merge-key"

_Fields = dict[str, dict[str, str]]


def files() -> dict[str, str]:
    """Return the one file, its content by its name. The module `library.values.strategic_merge` describes the format.

    The file holds each type that a pod template contains in any supported version of Kubernetes. Raises `ValueError`
    if two versions treat a field differently.
    """
    merged: dict[str, _Fields] = {}
    for kubernetes in KUBERNETES_VERSIONS:
        for name, fields in _definitions(document(kubernetes)).items():
            known = merged.setdefault(name, {})
            changed = [field for field in known.keys() & fields.keys() if known[field] != fields[field]]
            if changed:
                raise ValueError(f"{name} in Kubernetes {kubernetes} merges {', '.join(changed)} in another way")
            known.update(fields)
    lines = ",\n".join(f"{json.dumps(name)}:{compact(fields)}" for name, fields in sorted(merged.items()))
    return {"merge_keys.json": f"{{\n{lines}\n}}\n"}


def _definitions(document: dict[str, JsonSchema]) -> dict[str, _Fields]:
    """Return the fields of each type in a pod template that are mappings or lists, by the name of the type."""
    found: dict[str, _Fields] = {}
    wanted = [_ROOT]
    while wanted:
        name = wanted.pop()
        if name not in found:
            properties = document[name].get("properties", {})
            found[name] = {field: rules for field, schema in properties.items() if (rules := _field(schema))}
            wanted.extend(rules["of"] for rules in found[name].values() if "of" in rules)
    return found


def _field(schema: JsonSchema) -> dict[str, str]:
    """Return `of`, `strategy` and `key` of a field, as far as it has them."""
    strategies = schema.get(_STRATEGY, "").split(",")
    reference = next((node["$ref"] for node in (schema, schema.get("items", {})) if "$ref" in node), "")
    rules = {
        "of": reference.removeprefix(PREFIX),
        "strategy": next((name for name in ("merge", "replace") if name in strategies), ""),
        "key": schema.get(_KEY, ""),
    }
    return {name: value for name, value in rules.items() if value}
