"""The shapes of embedded Kubernetes types, against the official definitions of every supported version."""

from typing import Any

import pytest

from stowplan.compiler.generate.kubernetes_schemas import document
from stowplan.schema.kinds.kubernetes_shapes import ENV_VAR, NODE_AFFINITY, TOLERATION
from stowplan.schema.kinds.paddle_job import PaddleRole
from stowplan.schema.meta import KubernetesType
from stowplan.schema.platform.settings import KUBERNETES_VERSIONS

Schema = dict[str, Any]
SHAPES = {
    "io.k8s.api.core.v1.EnvVar": ENV_VAR,
    "io.k8s.api.core.v1.NodeAffinity": NODE_AFFINITY,
    "io.k8s.api.core.v1.Toleration": TOLERATION,
}
HARMLESS = {"additionalProperties", "description", "items", "properties", "required", "type"}


def stricter(shape: Schema, official: Schema, definitions: dict[str, Schema], path: str = "") -> list[str]:
    """Return paths and keywords that the shape refuses and the official schema accepts."""
    if "$ref" in official:
        official = definitions[official["$ref"].rpartition("/")[2]]
    types = official["type"] if isinstance(official["type"], list) else [official["type"]]
    found = [f"{path}: type"] * (shape["type"] not in types)
    found += [f"{path}: {key}" for key in sorted(shape.keys() - HARMLESS) if not _is_bound(key, shape, official)]
    found += [f"{path}.{name}: required" for name in set(shape.get("required", ())) - set(official.get("required", ()))]
    found += [f"{path}: closed"] * ("properties" in shape and shape.get("additionalProperties") is not True)
    if "items" in shape:
        found += stricter(shape["items"], official["items"], definitions, f"{path}[]")
    for name, child in shape.get("properties", {}).items():
        twin = official.get("properties", {}).get(name)
        place = f"{path}.{name}"
        found += [f"{place}: unknown"] if twin is None else stricter(child, twin, definitions, place)
    return found


def _is_bound(key: str, shape: Schema, official: Schema) -> bool:
    """Whether the keyword is the bound that 32 bits have anyway."""
    return key == "maximum" and official.get("format") == "int32" and shape[key] == 2**31 - 1


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize("definition", SHAPES)
def test_no_shape_is_stricter_than_the_official_definition(definition: str, version: str) -> None:
    definitions = document(version)
    assert stricter(SHAPES[definition], definitions[definition], definitions) == []


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ({"type": "array"}, [": type"]),
        ({"type": "object", "minProperties": 1}, [": minProperties"]),
        ({"type": "object", "properties": {}}, [": closed"]),
        ({"type": "object", "required": ["b"]}, [".b: required"]),
        ({"type": "object", "properties": {"c": {}}, "additionalProperties": True}, [".c: unknown"]),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}, [".a: type"]),
    ],
)
def test_the_comparison_can_fail(shape: Schema, found: list[str]) -> None:
    official = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}}, "required": ["a"]}
    assert stricter(shape, official, {}) == found


def test_a_mark_with_a_shape_can_be_compared_and_kept_in_a_set() -> None:
    mark = KubernetesType("io.k8s.api.core.v1.Toleration", TOLERATION)
    assert {mark, KubernetesType("io.k8s.api.core.v1.Toleration", TOLERATION)} == {mark}
    assert mark != KubernetesType("io.k8s.api.core.v1.Toleration")


def test_null_is_not_given() -> None:
    """`kubectl` prints `creationTimestamp: null` in every pod template; the API server ignores it."""
    given = {"metadata": {"creationTimestamp": None, "labels": {"a": None}}, "spec": {"containers": [{"env": None}]}}
    role = PaddleRole.model_validate({"replicas": 1, "template": given})
    assert role.template == {"metadata": {"labels": {}}, "spec": {"containers": [{}]}}
    assert given["metadata"] == {"creationTimestamp": None, "labels": {"a": None}}
