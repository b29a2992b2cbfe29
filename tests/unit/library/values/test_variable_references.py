"""References between variables, as Kubernetes expands them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.library.values.variable_references import circle, escaped, ordered, references

NAMES = [f"V{number}" for number in range(8)]


@st.composite
def acyclic(draw: st.DrawFn) -> dict[str, str]:
    """Values of which each refers only to names before it in some order, among other text."""
    names = draw(st.permutations(NAMES))
    found = {}
    for place, name in enumerate(names):
        parts = st.sampled_from([*(f"$({other})" for other in names[:place]), "$$(V0)", "x", "$x", "$$"])
        found[name] = "".join(draw(st.lists(parts, max_size=4)))
    return found


def expanded(text: str, known: dict[str, str]) -> str:
    """Expand a value as the kubelet does, by a second implementation: the first character decides how to go on."""
    if not text:
        return ""
    if text.startswith("$$"):
        return "$" + expanded(text[2:], known)
    if text.startswith("$(") and ")" in text:
        name, _, rest = text[2:].partition(")")
        return known.get(name, f"$({name})") + expanded(rest, known)
    return text[0] + expanded(text[1:], known)


@given(acyclic(), st.permutations(NAMES))
def test_any_order_of_the_variables_gives_the_same(values: dict[str, str], order: list[str]) -> None:
    assert ordered({name: values[name] for name in order}) == ordered(values)


@given(acyclic())
def test_every_reference_is_to_an_earlier_variable(values: dict[str, str]) -> None:
    order = ordered(values)
    assert order is not None
    assert sorted(order) == sorted(values)
    for place, name in enumerate(order):
        assert set(references(values[name])) <= set(order[:place])
    assert circle(values) == []


@given(st.text("$()AB", max_size=8))
def test_the_found_references_are_those_that_kubernetes_expands(text: str) -> None:
    """A string without references is the same for all variables."""
    names = references(text)
    one, other = (dict.fromkeys({*names, "A", "B"}, mark) for mark in ("1", "2"))
    assert (expanded(text, one) == expanded(text, other)) == (not names)


@given(st.text("$()AB", max_size=8))
def test_an_escaped_string_expands_to_the_original(text: str) -> None:
    assert references(escaped(text)) == []
    assert expanded(escaped(text), {"A": "1"}) == text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("https://$(TOKEN)@host/", ["TOKEN"]),
        ("$(A)$(B)", ["A", "B"]),
        ("$$(A)", []),
        ("$$$(A)", ["A"]),
        ("$$$$(A)", []),
        ("$(A", []),
        ("$A ${A} `A`", []),
        ("$()", [""]),
        ("$", []),
    ],
)
def test_references(text: str, names: list[str]) -> None:
    assert references(text) == names


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"A": "$(A)"}, ["A", "A"]),
        ({"B": "$(A)", "A": "$(B)"}, ["A", "B", "A"]),
        ({"Z": "$(Y)", "Y": "$(X)", "X": "$(Y)"}, ["X", "Y", "X"]),
    ],
)
def test_a_circle_is_named_from_its_first_name_on(values: dict[str, str], names: list[str]) -> None:
    assert ordered(values) is None
    assert circle(values) == names
