"""CustomResourceDefinitions, generated from the models.

The schemas are structural (apiextensions.k8s.io/v1) and never stricter than the CRDs of the old operators. They have no
defaults, although the old ones had two (`juicefs` and `sequence`): a default of a CRD appears in the live object but
not in Git, and Argo CD would compare and own fields that no user wrote. The compiler applies the defaults instead. The
schemas have no CEL rules either, so lists need no upper bounds.
"""

from typing import Any

from stowplan.schema.export.plain_schema import INT_OR_STRING, Schema, plain_schema
from stowplan.schema.kinds.custom_resource import Column, CustomResource
from stowplan.schema.kinds.kind import plural
from stowplan.schema.meta import KUBERNETES_TYPE, LARGEST_INT32

CATEGORIES = ("mlops",)
"""Category by which `kubectl get mlops` lists the objects of all Stowplan kinds."""

PROTECTION = {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"}
"""Annotation of the CRDs. Argo CD then neither prunes a CRD nor deletes it with its Application.

Removing a CRD would remove every object of its kind.
"""

LABELS = {"app.kubernetes.io/managed-by": "stowplan", "app.kubernetes.io/part-of": "stowplan"}

_NOT_FOR_CRDS = frozenset({"additionalProperties", "default", KUBERNETES_TYPE})


def custom_resource_definition(resource: type[CustomResource]) -> dict[str, Any]:
    """Return the CRD of a kind, as plain data. Its one version is served and stored."""
    schema = plain_schema(resource)
    (api_version,) = schema["properties"]["apiVersion"]["enum"]
    group, _, version = api_version.partition("/")
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural(resource.__name__)}.{group}",
            "labels": dict(LABELS),
            "annotations": dict(PROTECTION),
        },
        "spec": {
            "group": group,
            "names": _names(resource),
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [_column(column) for column in resource.COLUMNS],
                    "schema": {"openAPIV3Schema": _root(resource, schema)},
                }
            ],
        },
    }


def _names(resource: type[CustomResource]) -> dict[str, Any]:
    kind = resource.__name__
    names: dict[str, Any] = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural(resource.__name__),
        "singular": kind.lower(),
        "categories": list(CATEGORIES),
    }
    if resource.SHORT_NAMES:
        names["shortNames"] = list(resource.SHORT_NAMES)
    return names


def _column(column: Column) -> dict[str, str]:
    return {"name": column.name, "type": column.type, "jsonPath": column.json_path}


def _root(resource: type[CustomResource], schema: Schema) -> Schema:
    """Return the `openAPIV3Schema` of a kind. As in the old CRDs, no field is required and metadata declares none."""
    fields = schema["properties"]
    return {
        "type": "object",
        "description": schema["description"],
        "properties": {
            "apiVersion": {"type": "string", "description": fields["apiVersion"]["description"]},
            "kind": {"type": "string", "description": fields["kind"]["description"]},
            "metadata": {"type": "object"},
            "spec": _structural(fields["spec"]),
            "status": _structural(plain_schema(resource.STATUS)),
        },
    }


def _structural(node: Schema) -> Schema:
    """Return a schema from `plain_schema` in the form that Kubernetes requires.

    The API server of Kubernetes preserves all fields of a mapping without declared fields, and removes undeclared
    fields from other mappings. Integers get the format of their Go type; without one the server reads them as int64.
    """
    if node.get(INT_OR_STRING):
        return dict(node)
    structural = {key: value for key, value in node.items() if key not in _NOT_FOR_CRDS}
    more = node.get("additionalProperties")
    if more is True:
        structural["x-kubernetes-preserve-unknown-fields"] = True
    elif isinstance(more, dict):
        structural["additionalProperties"] = _structural(more)
    if "items" in node:
        structural["items"] = _structural(node["items"])
    if "properties" in node:
        structural["properties"] = {name: _structural(child) for name, child in node["properties"].items()}
    if node["type"] == "integer":
        structural["format"] = "int32" if structural.get("maximum") == LARGEST_INT32 else "int64"
        if structural["format"] == "int32":
            del structural["maximum"]
    return structural
