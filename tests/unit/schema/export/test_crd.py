"""CRDs from models: rewriting, the columns of the old system, and no stricter rules than before."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

import pytest
import yaml
from pydantic import Field
from syrupy.assertion import SnapshotAssertion

from stowplan.schema.export import crd, structural
from stowplan.schema.export.crd import custom_resource_definition
from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource
from stowplan.schema.kinds.kind import plural
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.kinds.sample_job import SampleJob
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import Int32, KubernetesType, Model, ObjectMeta

Schema = dict[str, Any]
LEGACY = Path(__file__).parents[5] / "shared/crds/legacy"
NATIVE = ("Dataset", "DatasetTask", "Training")
PRESERVE = "x-kubernetes-preserve-unknown-fields"


TAINT: Schema = {
    "type": "object",
    "required": ["key"],
    "properties": {"key": {"type": "string", "description": "Its key."}},
    "additionalProperties": True,
}


class Part(Model):
    """A part."""

    name: str = Field(description="Its name.", min_length=1)
    weight: int = Field(default=3, description="Its weight.")


class Pin(CustomResource):
    """A small kind."""

    SHORT_NAMES: ClassVar[tuple[str, ...]] = ("pn",)
    COLUMNS: ClassVar[tuple[Column, ...]] = (Column("Count", ".spec.count", "integer"), AGE)
    STATUS: ClassVar[type[Model]] = Part

    class Spec(Model):
        """Wanted state."""

        count: Int32 | None = Field(default=None, description="How many.", ge=1)
        title: Literal["a"] | None = Field(default=None, description="Only a.")
        part: Part | None = Field(default=None, description="The part.")
        parts: Annotated[list[Part] | None, Field(json_schema_extra={"x-kubernetes-list-type": "atomic"})] = Field(
            default=None, description="The parts.", max_length=4
        )
        tags: dict[str, str] = Field(default_factory=dict, description="Free words.")
        pod: Annotated[dict[str, Any], KubernetesType("io.k8s.api.core.v1.Pod")] | None = Field(
            default=None, description="A pod."
        )
        taint: Annotated[dict[str, Any], KubernetesType("io.k8s.api.core.v1.Taint", TAINT)] | None = Field(
            default=None, description="A taint."
        )

    api_version: Literal["example.org/v2"] = Field(description="Version.")
    kind: Literal["Pin"] = Field(description="Kind.")
    metadata: ObjectMeta = Field(description="Metadata.")
    spec: Spec = Field(description="The wish.")


PART = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "Its name."},
        "weight": {"type": "integer", "format": "int64", "description": "Its weight."},
    },
}


def test_a_model_becomes_a_crd() -> None:
    assert custom_resource_definition(Pin) == {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "pins.example.org",
            "labels": {"app.kubernetes.io/managed-by": "stowplan", "app.kubernetes.io/part-of": "stowplan"},
            "annotations": {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"},
        },
        "spec": {
            "group": "example.org",
            "names": {
                "kind": "Pin",
                "listKind": "PinList",
                "plural": "pins",
                "singular": "pin",
                "shortNames": ["pn"],
                "categories": ["mlops"],
            },
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v2",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        {"name": "Count", "type": "integer", "jsonPath": ".spec.count"},
                        {"name": "AGE", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                    ],
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "description": "A small kind.",
                            "properties": {
                                "apiVersion": {"type": "string", "description": "Version."},
                                "kind": {"type": "string", "description": "Kind."},
                                "metadata": {"type": "object"},
                                "spec": {
                                    "type": "object",
                                    "description": "The wish.",
                                    "properties": {
                                        "count": {
                                            "type": "integer",
                                            "format": "int32",
                                            "minimum": 1,
                                            "description": "How many.",
                                        },
                                        "title": {"type": "string", "enum": ["a"], "description": "Only a."},
                                        "part": PART | {"description": "The part."},
                                        "parts": {
                                            "type": "array",
                                            "maxItems": 4,
                                            "x-kubernetes-list-type": "atomic",
                                            "items": PART | {"description": "A part."},
                                            "description": "The parts.",
                                        },
                                        "tags": {
                                            "type": "object",
                                            "additionalProperties": {"type": "string"},
                                            "description": "Free words.",
                                        },
                                        "pod": {
                                            "type": "object",
                                            "x-kubernetes-preserve-unknown-fields": True,
                                            "description": "A pod.",
                                        },
                                        "taint": {
                                            "type": "object",
                                            "required": ["key"],
                                            "properties": {"key": {"type": "string", "description": "Its key."}},
                                            "x-kubernetes-preserve-unknown-fields": True,
                                            "description": "A taint.",
                                        },
                                    },
                                },
                                "status": PART | {"description": "A part."},
                            },
                        }
                    },
                }
            ],
        },
    }


def test_a_union_of_types_has_no_crd() -> None:
    class Either(Model):
        """One of two."""

        value: int | str = Field(description="One or the other.")

    class Odd(Pin):
        """A kind with a union in its status."""

        STATUS: ClassVar[type[Model]] = Either

    with pytest.raises(ValueError, match="too many values"):
        custom_resource_definition(Odd)


def version(resource: type[CustomResource]) -> dict[str, Any]:
    (only,) = custom_resource_definition(resource)["spec"]["versions"]
    assert isinstance(only, dict)
    return only


def schema_of(resource: type[CustomResource]) -> Schema:
    schema: Schema = version(resource)["schema"]["openAPIV3Schema"]
    return schema


def below(resource: type[CustomResource], path: str) -> Schema:
    """The schema of a field, by a path such as `spec.tolerations[]`."""
    return field(schema_of(resource), path)


def field(schema: Schema, path: str) -> Schema:
    for name in path.split("."):
        schema = schema["properties"][name.removesuffix("[]")]
        schema = schema["items"] if name.endswith("[]") else schema
    return schema


def nodes(schema: Schema) -> Iterator[Schema]:
    yield schema
    for child in [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]:
        if isinstance(child, dict):
            yield from nodes(child)


@pytest.fixture(params=KINDS)
def resource(request: pytest.FixtureRequest) -> type[CustomResource]:
    return KINDS[request.param].model


def test_every_crd_is_structural_and_small(resource: type[CustomResource]) -> None:
    assert structural.problems(schema_of(resource)) == []
    definition = custom_resource_definition(resource)
    assert structural.size_problems(definition) == []
    assert structural.size(definition) < structural.MAX_BYTES / 8


def test_crds_hold_no_defaults_titles_or_rules(resource: type[CustomResource]) -> None:
    unwanted = {"default", "title", "nullable", "x-kubernetes-validations"}
    assert [node for node in nodes(schema_of(resource)) if node.keys() & unwanted] == []


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in NATIVE])
def test_users_of_the_old_systems_need_not_give_any_field(kind: str) -> None:
    """Required fields of embedded Kubernetes types and of the old CRD are excluded."""
    resource = KINDS[kind].model
    assert "required" not in schema_of(resource)
    fields = [node for node in nodes(schema_of(resource)["properties"]["spec"]) if PRESERVE not in node]
    asked = [name for node in fields for name in node.get("required", ())]
    by_the_old = {"PaddleJob": ["mountPath", *["replicas"] * 3], "DataCube": ["sink", "source", "type", "type"]}
    assert sorted(asked) == by_the_old.get(kind, [])


@pytest.mark.parametrize("kind", NATIVE)
def test_a_native_kind_asks_for_what_cannot_be_left_out(kind: str, snapshot: SnapshotAssertion) -> None:
    """The server refuses an object without it, as the compiler does."""
    assert sorted(required(schema_of(KINDS[kind].model)["properties"]["spec"], "spec")) == snapshot


def required(node: Mapping[str, Any], path: str) -> Iterator[str]:
    """Paths of the fields that a schema asks for, but for those of embedded Kubernetes types."""
    if not node or PRESERVE in node:
        return
    yield from (f"{path}.{name}" for name in node.get("required", ()))
    for name, below in node.get("properties", {}).items():
        yield from required(below, f"{path}.{name}")
    yield from required(node.get("items", {}), f"{path}[]")


def test_every_column_shows_a_field_of_the_schema(resource: type[CustomResource]) -> None:
    for column in version(resource)["additionalPrinterColumns"]:
        if (column["type"], column["jsonPath"]) != ("date", ".metadata.creationTimestamp"):
            assert below(resource, column["jsonPath"].removeprefix("."))["type"] == column["type"]


def test_the_registry_is_sorted_and_names_are_unique() -> None:
    kinds = list(KINDS)
    assert kinds == sorted(kinds)
    assert len({kind.plural for kind in KINDS.values()}) == len(kinds)


def test_the_table_and_the_models_agree() -> None:
    for kind in KINDS.values():
        assert get_args(kind.model.model_fields["api_version"].annotation) == (kind.api_version,)
        assert get_args(kind.model.model_fields["kind"].annotation) == (kind.name,)


@pytest.mark.parametrize(
    ("resource", "name", "columns"),
    [
        (
            PaddleJob,
            "paddlejobs.batch.paddlepaddle.org",
            [
                ("Status", "string", ".status.phase"),
                ("Mode", "string", ".status.mode"),
                ("Age", "date", ".metadata.creationTimestamp"),
            ],
        ),
        (SampleJob, "samplejobs.batch.paddlepaddle.org", [("PHASE", "string", ".status.phase")]),
        (
            SampleSet,
            "samplesets.batch.paddlepaddle.org",
            [
                ("TOTAL SIZE", "string", ".status.cacheStatus.totalSize"),
                ("CACHED SIZE", "string", ".status.cacheStatus.cachedSize"),
                ("AVAIL SPACE", "string", ".status.cacheStatus.diskAvail"),
                ("Runtime", "string", ".status.runtimeStatus.runtimeReady"),
                ("PHASE", "string", ".status.phase"),
                ("AGE", "date", ".metadata.creationTimestamp"),
            ],
        ),
    ],
)
def test_kubectl_shows_the_columns_of_the_old_system(
    resource: type[CustomResource], name: str, columns: list[tuple[str, str, str]]
) -> None:
    assert custom_resource_definition(resource)["metadata"]["name"] == name
    assert version(resource)["name"] == ("v1" if resource is PaddleJob else "v1alpha1")
    assert [tuple(column.values()) for column in version(resource)["additionalPrinterColumns"]] == columns


@pytest.mark.parametrize("path", ["spec.nodeAffinity", "spec.tolerations[]"])
def test_embedded_kubernetes_values_are_kept_whole(path: str) -> None:
    objects = [node for node in nodes(below(SampleSet, path)) if node["type"] == "object"]
    assert objects
    assert all(node[PRESERVE] is True for node in objects)


@pytest.mark.parametrize("path", ["spec.nodeAffinity", "spec.tolerations[]"])
def test_embedded_kubernetes_values_have_the_shape_of_the_old_crd(path: str) -> None:
    old = field(legacy(SampleSet)["versions"][0]["schema"]["openAPIV3Schema"], path)
    assert bare(below(SampleSet, path)) == bare(old)


def bare(schema: Schema) -> Schema:
    """Return a schema without descriptions and without the marks that preserve unknown fields."""
    kept = {key: value for key, value in schema.items() if key not in {"description", PRESERVE}}
    if "items" in kept:
        kept["items"] = bare(kept["items"])
    if "properties" in kept:
        kept["properties"] = {name: bare(child) for name, child in kept["properties"].items()}
    return kept


@pytest.mark.parametrize(
    ("kind", "path", "keys"),
    [
        (SampleSet, "status.partitions", ["ordinal"]),
        (SampleSet, "status.conditions", ["type"]),
        (SampleSet, "status.attempts", ["task", "partition"]),
        (SampleJob, "status.attempts", ["task", "partition"]),
    ],
    ids=["partitions", "conditions", "attempts", "attempts of a task"],
)
def test_two_writers_can_share_the_lists_of_the_status(kind: type[CustomResource], path: str, keys: list[str]) -> None:
    node = below(kind, path)
    assert (node["x-kubernetes-list-type"], node["x-kubernetes-list-map-keys"]) == ("map", keys)
    assert set(keys) <= set(node["items"]["required"])
    assert [node["items"]["properties"][key].get("default") for key in keys] == [None] * len(keys)


@pytest.mark.parametrize(
    "path", ["spec.partitions", "status.runtimeStatus.readyReplicas", "status.partitions[].ordinal"]
)
def test_numbers_of_pods_have_32_bits(path: str) -> None:
    assert below(SampleSet, path)["format"] == "int32"
    assert "maximum" not in below(SampleSet, path)


def stricter(old: Schema, new: Schema, path: str = "") -> list[str]:
    """Return paths and keywords that `new` refuses and `old` accepts. Descriptions and defaults refuse nothing."""
    free = new.get(PRESERVE, False)
    harmless = {"description", "default", "properties", "items", "additionalProperties"}
    harmless |= {PRESERVE} | ({"format"} if new.get("format") == "int64" else set())
    harmless |= {"enum"} if set(old.get("enum", ["anything"])) <= set(new.get("enum", [])) else set()
    found = [f"{path}: {key}" for key in new.keys() - harmless if new[key] != old.get(key)]
    if "items" in new:
        found += stricter(old["items"], new["items"], f"{path}[]")
    for name, child in old.get("properties", {}).items():
        place = f"{path}.{name}"
        twin = new.get("properties", {}).get(name)
        if twin is not None:
            found += stricter(child, twin, place)
        elif not free:
            found.append(f"{place}: missing")
    return sorted(found)


@pytest.mark.parametrize(
    ("new", "found"),
    [
        ({"type": "object", "description": "A."}, [".a: missing"]),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, [".a: type"]),
        ({"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}, [".a: maxLength"]),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, [": required"]),
        ({"type": "object", PRESERVE: True}, []),
        ({"type": "object", PRESERVE: True, "properties": {"a": {"type": "integer"}}}, [".a: type"]),
        ({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "maxLength": 3}}}, []),
    ],
)
def test_the_comparison_with_the_old_crds_can_fail(new: Schema, found: list[str]) -> None:
    assert stricter({"type": "object", "properties": {"a": {"type": "string"}}}, new) == found


def test_more_words_are_not_stricter_and_fewer_or_other_ones_are() -> None:
    old: Schema = {"type": "string", "enum": ["a", "b"]}
    assert stricter(old, {**old, "enum": ["c", "b", "a"]}) == []
    assert stricter(old, {**old, "enum": ["a", "c"]}) == [": enum"]
    assert stricter({"type": "string"}, old) == [": enum"]


def legacy(resource: type[CustomResource]) -> dict[str, Any]:
    path = LEGACY / f"batch.paddlepaddle.org_{plural(resource.__name__)}.yaml"
    if not path.is_file():
        pytest.skip(f"no {path.name} beside the checkout")
    definition: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["spec"]
    return definition


def test_no_crd_is_stricter_than_the_old_one(resource: type[CustomResource]) -> None:
    old = legacy(resource)["versions"][0]["schema"]["openAPIV3Schema"]
    assert stricter(old, schema_of(resource)) == []


def test_names_and_columns_are_those_of_the_old_crd(resource: type[CustomResource]) -> None:
    old, new = legacy(resource), custom_resource_definition(resource)["spec"]
    for key in ("group", "scope"):
        assert new[key] == old[key]
    assert {key: new["names"].get(key) for key in old["names"]} == old["names"]
    for key in ("name", "served", "storage", "subresources", "additionalPrinterColumns"):
        assert new["versions"][0][key] == old["versions"][0][key]


def test_a_crd_shares_nothing_with_the_next(resource: type[CustomResource]) -> None:
    custom_resource_definition(resource)["metadata"]["labels"]["a"] = "b"
    assert custom_resource_definition(resource)["metadata"]["labels"] == crd.LABELS
