"""Values that return from Node unchanged, and the refusal of all others."""

from typing import Any

import pytest
from cdk8s import ApiObject, App, Chart, JsonPatch
from hypothesis import given, settings
from hypothesis import strategies as st

from stowplan.library.composition.crossing import CrossingError, check_crossing, crosses

MARKS = ["$jsii.byref", "$jsii.date", "$jsii.enum", "$jsii.map", "$jsii.struct", "$jsii.interfaces", "$jsii.any"]
KEYS = [*MARKS, "constructor", "prototype", "toString", "hasOwnProperty", "then", "toJSON", "a/b", "~0", "", "2"]

exact_numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: not number.is_integer()
)
text = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from([*MARKS, "${Token[TOKEN.1]}", "\u2028"])
data = st.recursive(
    st.booleans() | exact_numbers | text,
    lambda inner: st.lists(inner | st.none()) | st.dictionaries(st.sampled_from(KEYS) | text, inner),
    max_leaves=12,
)


def through_node(values: list[Any]) -> list[Any]:
    """The values, each carried by a JSON patch and rendered."""
    chart = Chart(App(), "chart")
    for index, value in enumerate(values):
        made = ApiObject(chart, str(index), api_version="v1", kind="ConfigMap")
        made.add_json_patch(JsonPatch.add("/data", value))
    return [rendered["data"] for rendered in chart.to_json()]


@settings(max_examples=25)
@given(st.lists(data.filter(crosses), min_size=1, max_size=20))
def test_accepted_values_return_with_the_same_types(values: list[Any]) -> None:
    assert repr_sorted(through_node(values)) == repr_sorted(values)


def repr_sorted(value: Any) -> str:
    """Return a string that distinguishes 1, 1.0 and True and does not depend on the order of keys."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{repr_sorted(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(repr_sorted, value)) + "]"
    return repr(value)


REFUSED = [
    2**53,
    -(2**53),
    2**63 - 1,
    10**400,
    1.0,
    -0.0,
    1e21,
    float("inf"),
    float("nan"),
    {"a": None},
    {"__proto__": 1},
    {"a": 1, "__proto__": 1},
    {"$jsii.byref": "cdk8s.App@10000"},
    {"$jsii.map": {"a": 1}},
    {"$jsii.date": "2026-01-01T00:00:00Z"},
    {"$jsii.enum": "a/b"},
    {1: "a"},
    b"bytes",
]


@pytest.mark.parametrize("value", REFUSED, ids=repr)
def test_values_that_node_would_change_are_refused(value: Any) -> None:
    with pytest.raises(CrossingError):
        check_crossing({"spec": [value]})


@pytest.mark.parametrize("value", [2**53 + 1, 1.0, {"a": None}, {"$jsii.map": {"a": 1}}], ids=repr)
def test_node_still_changes_the_refused_values(value: Any) -> None:
    """If this fails, jsii has improved and the list can be shortened."""
    assert repr(through_node([value])) != repr([value])


def test_the_error_names_the_position() -> None:
    with pytest.raises(CrossingError, match=r"spec\.ports\[1\]\.number: ") as caught:
        check_crossing({"spec": {"ports": [{}, {"number": 2**60}]}})
    assert caught.value.path == ("spec", "ports", 1, "number")
