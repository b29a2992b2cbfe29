"""Rules that only editors apply: those of each kind, and those of all."""

from collections.abc import Mapping

from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.editor_rules import LABEL, SUBDOMAIN, Schema, pattern
from stowplan.schema.meta import Model

_WORD = "[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?"

_NAMESPACE = pattern(LABEL, "A namespace has lower-case letters, digits and -, with a letter or digit at both ends.")
_SERVICE = pattern(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "The name of a SampleSet has lower-case letters, digits and -, begins with a letter and does not end in -.",
)

_LABELS: Schema = {
    "propertyNames": pattern(f"({LABEL}(\\.{LABEL})*/)?{_WORD}", "A label is named as in app or example.com/app.")
}
_LABEL_VALUES: Schema = _LABELS | {
    "additionalProperties": {
        "type": "string",
        **pattern(
            f"({_WORD})?", "A label has at most 63 letters, digits, -, _ and ., with a letter or digit at both ends."
        ),
    }
}

_COMMON: Mapping[str, Schema] = {
    "metadata.name": SUBDOMAIN,
    "metadata.namespace": _NAMESPACE,
    "metadata.labels": _LABEL_VALUES,
    "metadata.annotations": _LABELS,
}


def with_rules(model: type[Model], schema: Schema) -> Schema:
    """Add the rules of a kind to its schema, which is changed, and return it; another model has none.

    Raises `KeyError` for an unknown field.
    """
    if not issubclass(model, CustomResource):
        return schema
    own = {**_COMMON, **({"metadata.name": _SERVICE} if model.SERVICE else {}), **model.EDITOR_RULES}
    for path, rule in own.items():
        node = schema
        for name in path.replace("[]", ".[]").split("."):
            node = node["items"] if name == "[]" else node["properties"][name]
        if rule.keys() & node.keys():
            node.setdefault("allOf", []).append(rule)
        else:
            node.update(rule)
    return schema
