"""Quantities are exact numbers."""

from decimal import Decimal

import pytest

from stowplan.library.values.quantities import amount, equal, larger, text


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
    assert equal(one, other)
    assert not larger(one, other)
    assert not larger(other, one)


@pytest.mark.parametrize("wrong", ["much", "", None, [], "1 Gi", "1GiB", "1e9999999999"])
def test_invalid_quantities_are_not_compared(wrong: object) -> None:
    assert amount(wrong) is None
    assert not larger(wrong, "1")
    assert not larger("1", wrong)
    assert not equal(wrong, wrong)


@pytest.mark.parametrize(("one", "other"), [("1", "2"), ("1Gi", "1G"), ("1", "much")])
def test_different_quantities_are_not_equal(one: object, other: object) -> None:
    assert not equal(one, other)


@pytest.mark.parametrize(
    ("quantity", "written"),
    [
        ("0", "0"),
        ("1", "1"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1500m", "1500m"),
        ("0.1m", "1m"),
        ("1.0001", "1001m"),
        ("1023", "1023"),
        ("1024", "1Ki"),
        ("1536Mi", "1536Mi"),
        ("2048Mi", "2Gi"),
        ("1k", "1000"),
        ("1000Gi", "1000Gi"),
        ("3Ei", "3Ei"),
        ("4096Ei", "4096Ei"),
    ],
)
def test_a_number_is_written_as_a_quantity(quantity: str, written: str) -> None:
    number = amount(quantity)
    assert number is not None
    assert text(number) == written


@pytest.mark.parametrize("thousandths", [0, 1, 999, 1000, 1024000, 2**50 * 1000, 10**22 + 1, 3 * 2**60 * 1000])
def test_a_written_number_is_read_back(thousandths: int) -> None:
    number = Decimal(thousandths) / 1000
    assert amount(text(number)) == number
