"""Paths inside a dataset, and references to Secrets."""

import pytest

from stowplan.library.dialects.shared import dataset_path, secrets
from stowplan.library.ir.data import SecretName
from stowplan.schema.meta import SecretReference
from tests.unit.specs import platform


@pytest.mark.parametrize(("path", "relative"), [("a/b", "a/b"), ("/a", "a"), ("//a/", "a/")])
def test_path_is_relative_to_the_dataset(path: str, relative: str) -> None:
    assert dataset_path.relative(path) == relative


@pytest.mark.parametrize("path", ["", "/", "..", "a/../b", "../a", "a\nb", "a\0b"])
def test_no_path(path: str) -> None:
    assert [found.code for found in dataset_path.findings([path], ("p",))] == ["SP405"]


@pytest.mark.parametrize("path", ["a", "/a b/c", "a..b", "...", "-a", "$(a)", "a;b", "*"])
def test_path(path: str) -> None:
    assert dataset_path.findings([path], ("p",)) == []


def test_each_wrong_path_is_reported_by_its_index() -> None:
    assert [found.path for found in dataset_path.findings(["a", "..", "b", ""], ("p",))] == [("p", 1), ("p", 3)]


FALLBACK = SecretName("ml", "volume")


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (None, FALLBACK),
        (SecretReference(), FALLBACK),
        (SecretReference(name="source"), SecretName("ml", "source")),
        (SecretReference(namespace="storage"), SecretName("storage", "volume")),
        (SecretReference(name="source", namespace="storage"), SecretName("storage", "source")),
        (SecretReference(name=""), FALLBACK),
    ],
)
def test_secret_takes_each_missing_part_from_its_fallback(
    reference: SecretReference | None, expected: SecretName
) -> None:
    assert secrets.resolve(reference, FALLBACK) == expected


def sync_namespace(volume: str, source: str, *, cross: bool = False) -> tuple[str, list[str]]:
    home, found = secrets.sync_namespace(
        "ml",
        SecretName(volume, "volume"),
        SecretName(source, "source"),
        platform(policy={"crossNamespaceTasks": cross}),
        ("spec", "secretRef"),
    )
    return home, [each.code for each in found]


def test_sync_runs_where_its_secrets_are() -> None:
    assert sync_namespace("ml", "ml") == ("ml", [])
    assert sync_namespace("storage", "storage", cross=True) == ("storage", [])


def test_sync_cannot_run_where_its_secrets_are_not() -> None:
    assert sync_namespace("storage", "storage") == ("ml", ["SP303"])
    assert sync_namespace("storage", "ml") == ("ml", ["SP303"])
    assert sync_namespace("ml", "storage", cross=True) == ("ml", ["SP303"])
