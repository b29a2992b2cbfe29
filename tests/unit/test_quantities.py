"""Quantities are compared as exact numbers."""

import pytest

from stowplan.compiler.quantities import larger


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2", "1999m"),
        ("1Ki", "1k"),
        ("1.5Gi", "1535Mi"),
        ("1e3", "999"),
        ("1E", "999P"),
        ("10E-1", "0.9"),
        (".5", "499999999n"),
        (2, 1.5),
        ("1", "-1"),
        ("1Ei", "1152921504606846975"),
    ],
)
def test_the_larger_quantity(one: object, other: object) -> None:
    assert larger(one, other)
    assert not larger(other, one)


@pytest.mark.parametrize(("one", "other"), [("1Gi", "1024Mi"), ("1000m", 1), ("1e3", "1k"), ("0", "-0")])
def test_equal_quantities(one: object, other: object) -> None:
    assert not larger(one, other)
    assert not larger(other, one)


@pytest.mark.parametrize("wrong", ["much", "", None, [], "1 Gi", "1GiB", "1e9999999999"])
def test_what_is_no_quantity_is_not_compared(wrong: object) -> None:
    assert not larger(wrong, "1")
    assert not larger("1", wrong)
