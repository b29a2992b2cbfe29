"""The schema of a CRD as a JSON schema that is as strict as the API server with strict field validation."""

from stowplan.compiler.kubernetes.list_map_keys import LIST_MAP_KEYS
from stowplan.compiler.kubernetes.rules import FORMATS
from stowplan.compiler.kubernetes.schema_problem import JsonSchema

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_KEPT = frozenset(
    "type enum required pattern minimum maximum minLength maxLength minItems maxItems minProperties maxProperties "
    "multipleOf uniqueItems title".split()
) | {LIST_MAP_KEYS}
_JUNCTORS = ("allOf", "anyOf", "oneOf")


def strict_schema(schema: JsonSchema) -> JsonSchema:
    """Return a structural `openAPIV3Schema` as a JSON schema that refuses the fields that the API server would prune.

    At the root, `apiVersion`, `kind` and `metadata` are always allowed; other code checks the metadata. CEL rules are
    left out.
    """
    strict = _strict(schema)
    fields = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    return {**strict, "properties": {**strict.get("properties", {}), **fields}}


def _strict(node: JsonSchema) -> JsonSchema:
    if node.get("x-kubernetes-int-or-string"):
        return {**_rules(node), "type": ["integer", "string"]}
    strict = _rules(node)
    if node.get("nullable") and "type" in node:
        strict["type"] = [node["type"], "null"]
    if "items" in node:
        strict["items"] = _strict(node["items"])
    if "properties" in node:
        strict["properties"] = {name: _strict(child) for name, child in node["properties"].items()}
    if isinstance(node.get("additionalProperties"), dict):
        strict["additionalProperties"] = _strict(node["additionalProperties"])
    elif _closed(node):
        strict["additionalProperties"] = False
    return strict


def _closed(node: JsonSchema) -> bool:
    """Whether the API server of Kubernetes prunes fields that this node of the schema does not name."""
    preserved = node.get(_PRESERVE) or node.get("x-kubernetes-embedded-resource") or "additionalProperties" in node
    return node.get("type") == "object" and not preserved


def _rules(node: JsonSchema) -> JsonSchema:
    """Return the rules of a node about its value, without those about fields and items.

    Exclusive bounds are flags in OpenAPI, but numbers in JSON schema.
    """
    rules: JsonSchema = dict(FORMATS.get(node.get("format", ""), {}))
    rules |= {key: value for key, value in node.items() if key in _KEPT}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if node.get(exclusive) is True and bound in rules:
            rules[exclusive] = rules.pop(bound)
    for junctor in _JUNCTORS:
        if junctor in node:
            rules[junctor] = [_branch(branch) for branch in node[junctor]]
    if "not" in node:
        rules["not"] = _branch(node["not"])
    return rules


def _branch(node: JsonSchema) -> JsonSchema:
    """Return the JSON schema of a node below `allOf`, `anyOf`, `oneOf` or `not`.

    Such a node only adds rules. It refuses no unknown fields, because the node above it names the fields.
    """
    branch = _rules(node)
    if "items" in node:
        branch["items"] = _branch(node["items"])
    if "properties" in node:
        branch["properties"] = {name: _branch(child) for name, child in node["properties"].items()}
    return branch
