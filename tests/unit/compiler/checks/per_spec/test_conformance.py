"""Objects against the schemas of their kinds."""

import pytest

from stowplan.compiler.checks.across_specs import duplicates
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.checks.per_spec import conformance, crds, custom_resources
from stowplan.compiler.checks.per_spec.custom_resources import Definitions
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Severity
from stowplan.schema.export.crd import custom_resource_definition
from stowplan.schema.kinds.table import KINDS
from tests.unit.compiler.checks.given import (
    GONE,
    SPEC,
    body,
    changed,
    claim,
    config_map,
    definition,
    fields,
    foreign,
    graph,
    job,
    objects,
    output,
    role_binding,
    service,
    stateful_set,
    texts,
    volume,
)

SAMPLE_SET = body(
    "SampleSet",
    "imagenet",
    api="batch.paddlepaddle.org/v1alpha1",
    spec={"partitions": 2, "noSync": True, "secretRef": {"name": "volume"}},
)


def _of_crds(made: Json, *others: Json) -> list[ObjectFinding]:
    """The findings for `made` by the CRDs among all of these objects."""
    return custom_resources.check(objects(made), Definitions(objects(made, *others)))


def conform(made: Json) -> list[ObjectFinding]:
    return conformance.check([Object(output(made))], "1.36")


@pytest.mark.parametrize(
    "made",
    [job(), stateful_set(), service(), config_map(), volume(), claim(), role_binding(), definition(), SAMPLE_SET],
    ids=lambda made: str(made["kind"]),
)
def test_a_complete_object_conforms(made: Json) -> None:
    assert conform(made) == []


@pytest.mark.parametrize(
    ("made", "path", "text"),
    [
        (changed(job(), "spec.backofLimit", 3), "spec.backofLimit", 'Did you mean "backoffLimit"?'),
        (changed(job(), "spec.template", GONE), "spec.template", "is missing"),
        (changed(service(), "spec.type", "Clusterip"), "spec.type", 'Did you mean "ClusterIP"?'),
        (changed(volume(), "spec", GONE), "spec", "is missing"),
        (changed(volume(), "spec", None), "spec", "allowed is a mapping"),
        (changed(volume(), "spec.accessModes", None), "spec.accessModes", "allowed is a list"),
        (changed(claim(), "spec.accessModes", GONE), "spec.accessModes", "is missing"),
        (changed(claim(), "spec.accessModes", []), "spec.accessModes", "at least 1"),
        (changed(job(), "metadata.name", GONE), "metadata.name", "has no name"),
        (changed(job(), "metadata.namespace", GONE), "metadata.namespace", "needs a namespace"),
        (changed(volume(), "metadata.namespace", "ml"), "metadata.namespace", "has none"),
        (changed(job(), "kind", "Jobb"), "kind", 'Did you mean "Job"?'),
        (changed(job(), "apiVersion", "batch/v1beta1"), "apiVersion", 'does not serve "batch/v1beta1"'),
        (changed(SAMPLE_SET, "metadata.lables", {}), "metadata.lables", 'Did you mean "labels"?'),
        (changed(SAMPLE_SET, "metadata.name", GONE), "metadata.name", "has no name"),
        (changed(job(), "metadata.labels", {"a": "x" * 64}), "metadata.labels.a", "at most 63"),
        (changed(job(), "metadata.labels", {"a": "-x"}), "metadata.labels.a", "a letter or digit at both ends"),
        (changed(job(), "metadata.labels", {"a b": "x"}), 'metadata.labels["a b"]', "a name such as app"),
        (changed(service(), "spec.selector", {"app": "a b"}), "spec.selector.app", "a label value"),
        (
            changed(job(), "metadata.annotations", {"a": "x" * 262_144}),
            "metadata.annotations",
            "at most 262144 are allowed",
        ),
    ],
)
def test_objects_that_the_server_would_refuse_are_reported(made: Json, path: str, text: str) -> None:
    found = conform(made)
    assert fields(found) == [("SP501", path)]
    assert text in texts(found)


@pytest.mark.parametrize(
    ("below", "schema"),
    [
        ("properties", None),
        ("properties", {"a": None}),
        ("items", {"typ": "string"}),
        ("items", [{"type": "string"}]),
        ("additionalProperties", None),
        ("additionalProperties", {"type": 3}),
        ("required", None),
        ("type", None),
    ],
)
def test_an_unusable_schema_in_a_crd_is_reported(below: str, schema: object) -> None:
    root = "spec.versions.0.schema.openAPIV3Schema"
    found = conform(changed(definition(), f"{root}.{below}", schema))
    assert found
    assert fields(found)[0][1].startswith(f"spec.versions[0].schema.openAPIV3Schema.{below}")


@pytest.mark.parametrize(
    ("below", "schema"),
    [
        ("default", None),
        ("items", {"type": "string"}),
        ("additionalProperties", True),
        ("additionalProperties", {"type": "integer", "format": "int32"}),
        ("x-kubernetes-preserve-unknown-fields", True),
    ],
)
def test_a_schema_in_a_crd(below: str, schema: object) -> None:
    assert conform(changed(definition(), f"spec.versions.0.schema.openAPIV3Schema.{below}", schema)) == []


def test_a_kind_of_a_foreign_group_has_only_its_metadata_checked() -> None:
    assert conform(body("Thing", "a", api="example.com/v1", anything={"goes": 1})) == []


def test_values_without_type_do_not_stop_the_check() -> None:
    for made in ({}, {"metadata": None}, {"kind": 3, "metadata": []}, {"apiVersion": "v1", "kind": "Pod", "spec": 1}):
        assert conform(made) != []


def test_a_custom_resource_that_fits_its_crd() -> None:
    assert _of_crds(SAMPLE_SET) == []


@pytest.mark.parametrize(
    ("made", "path", "text"),
    [
        (changed(SAMPLE_SET, "spec.partition", 2), "spec.partition", 'Did you mean "partitions"?'),
        (changed(SAMPLE_SET, "spec.partitions", "2"), "spec.partitions", "allowed is a whole number"),
        (changed(SAMPLE_SET, "spec.partitions", 2**31), "spec.partitions", "at most 2147483647"),
        (changed(SAMPLE_SET, "apiVersion", "batch.paddlepaddle.org/v2"), "apiVersion", "does not serve"),
        (changed(SAMPLE_SET, "metadata.namespace", GONE), "metadata.namespace", "needs a namespace"),
    ],
)
def test_a_custom_resource_that_its_crd_refuses(made: Json, path: str, text: str) -> None:
    found = _of_crds(made)
    assert fields(found) == [("SP502", path)]
    assert text in texts(found)


def test_kubernetes_types_inside_a_custom_resource_keep_their_fields() -> None:
    tolerations = [{"operator": "Exists", "anything": "goes"}]
    assert _of_crds(changed(SAMPLE_SET, "spec.tolerations", tolerations)) == []


def test_a_foreign_custom_resource_is_checked_by_a_crd_of_the_output() -> None:
    thing = body("Thing", "a", api="example.com/v1", spec={"size": 3, "colour": "red"})
    assert _of_crds(thing) == []
    assert fields(_of_crds(thing, definition())) == [("SP502", "spec.colour")]
    wide = changed(definition(), "spec.scope", "Cluster")
    assert ("SP502", "metadata.namespace") in fields(_of_crds(thing, wide))


def test_an_invalid_pattern_in_a_crd_is_reported() -> None:
    broken = changed(
        definition(), "spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size", {"pattern": "("}
    )
    thing = body("Thing", "a", api="example.com/v1", spec={"size": 3})
    found = _of_crds(thing, broken)
    assert fields(found) == [("SP502", "")]
    assert "cannot be used" in texts(found)


def test_int_or_string_and_bounds_of_openapi_are_understood() -> None:
    properties = {
        "port": {"x-kubernetes-int-or-string": True},
        "share": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "maybe": {"type": "string", "nullable": True},
        "either": {"type": "string", "anyOf": [{"pattern": "^a"}, {"not": {"pattern": "^."}}]},
    }
    crd = changed(definition(), "spec.versions.0.schema.openAPIV3Schema.properties.spec.properties", properties)
    good = {"port": "http", "share": 0.5, "free": {"x": [1]}, "maybe": None, "either": "ab"}
    bad = {"port": [], "share": 0, "free": [], "maybe": 3, "either": "b"}
    assert _of_crds(body("Thing", "a", api="example.com/v1", spec=good), crd) == []
    found = _of_crds(body("Thing", "a", api="example.com/v1", spec=bad), crd)
    assert [path for _, path in fields(found)] == [f"spec.{name}" for name in sorted(bad)]


def test_our_crds_are_structural_and_small_enough() -> None:
    ours = [custom_resource_definition(kind.model) for kind in KINDS.values()]
    assert crds.check(objects(*ours)) == []


def test_a_crd_that_is_not_structural() -> None:
    untyped = changed(definition(), "spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size", {})
    found = crds.check(objects(untyped))
    assert [code for code, _ in fields(found)] == ["SP550"]
    assert "properties.size" in fields(found)[0][1]


def test_a_large_crd_is_an_error_if_compiled_and_a_warning_if_foreign() -> None:
    large = changed(definition(), "spec.versions.0.schema.openAPIV3Schema.description", "x" * 300_000)
    ours, theirs = crds.check(objects(large)), crds.check(objects(foreign(large)))
    assert fields(ours) == fields(theirs) == [("SP551", "")]
    assert (ours[0].found.severity, theirs[0].found.severity) == (Severity.ERROR, Severity.WARNING)


def test_duplicates_are_found_across_versions() -> None:
    twin = changed(job(), "apiVersion", "batch/v2")
    other = foreign(job("another"))
    found = duplicates.check(graph(job(), foreign(twin), other))
    assert fields(found) == [("SP503", "metadata.name")]
    assert f"{SPEC} and extensions/a.py" in texts(found)
