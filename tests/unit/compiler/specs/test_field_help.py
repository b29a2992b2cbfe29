"""`stowplan explain` of kinds and fields."""

import pytest

from stowplan.compiler.specs import field_help


def test_a_kind_is_explained_with_its_fields() -> None:
    lines = field_help.field_help("SampleSet")
    assert lines is not None
    assert lines[0] == "SampleSet: object"
    assert "  spec: object, required" in lines


def test_a_field_is_explained_in_any_case() -> None:
    assert field_help.field_help("sampleset.spec.CACHE") == field_help.field_help("SampleSet.spec.cache")


def test_fields_below_lists_need_no_index() -> None:
    lines = field_help.field_help("sampleset.spec.cache.levels.cacheSize")
    assert lines is not None
    assert lines[0] == "SampleSet.spec.cache.levels.cacheSize: integer"


def test_a_field_is_explained_as_diagnostics_write_it() -> None:
    assert field_help.field_help("dataset.spec.cache.tiers[0].size") == field_help.field_help(
        "dataset.spec.cache.tiers.size"
    )


@pytest.mark.parametrize(("name", "next_one"), [("training", "Training.spec"), ("platform.argocd.destination", None)])
def test_a_kind_says_where_its_fields_are_explained(name: str, next_one: str | None) -> None:
    said = [line for line in field_help.field_help(name) or [] if line.startswith("More of a field")]
    assert said == ([f"More of a field: stowplan explain {next_one}"] if next_one else [])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("dataset.spec.cahce", 'Dataset.spec has no field "cahce". Did you mean "cache"?'),
        ("Dataset.spec.cahce.tiers", 'Dataset.spec has no field "cahce". Did you mean "cache"?'),
        ("sampleset.spec.partitions.more", "SampleSet.spec.partitions has no fields."),
        ("spec.cache.tiers[0]", "Did you mean Dataset.spec.cache.tiers?"),
        ("cache", "Did you mean Dataset.spec.cache or SampleSet.spec.cache?"),
        ("images.registry", "Did you mean Platform.images.registry?"),
        ("nonsense", None),
        ("", None),
    ],
)
def test_a_wrong_name_gets_a_hint(name: str, hint: str | None) -> None:
    assert field_help.suggestion(name) == hint


def test_fields_below_maps_need_no_key() -> None:
    lines = field_help.field_help("platform.profiles.accelerators.nodes")
    assert lines is not None
    assert lines[0] == "Platform.profiles.accelerators.nodes: integer"


def test_required_fields_below_maps_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    below = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    schema = {"properties": {"values": {"additionalProperties": {"items": below}}}}
    monkeypatch.setattr(field_help, "plain_schema", lambda _: schema)
    lines = field_help.field_help("sampleset.values")
    assert lines is not None
    assert lines[-1] == "  name: string, required"


def test_allowed_values_and_the_default_are_shown() -> None:
    lines = field_help.field_help("platform.policy.rerun")
    assert lines is not None
    assert lines[-2:] == ["  One of: warn, error.", "  Default: warn."]


def test_an_only_value_is_said_once() -> None:
    version, kind = (field_help.field_help(f"training.{name}") or [] for name in ("apiVersion", "kind"))
    assert version[-1] == "  Always: stowplan.dev/v1alpha1."
    assert [line for line in kind if "Training" in line and "Always" in line] == ["  Always `Training`."]


@pytest.mark.parametrize("name", ["nothing", "sampleset.nothing", "sampleset.spec.partitions.more", ""])
def test_an_unknown_field_has_no_help(name: str) -> None:
    assert field_help.field_help(name) is None
