"""Names of claims that are nearly the name of a claim that the repository makes."""

import pytest

from stowplan.compiler.specs.claim_names import ClaimNames


@pytest.mark.parametrize("name", ["imagnet", "imagenets", "image-net", "iamgenet", "imagenot"])
def test_typos_are_reported_with_the_name_that_was_meant(name: str) -> None:
    names = ClaimNames({"ml": {"imagenet": "SampleSet ml/imagenet"}})
    (found,) = names.look("ml", name, ("spec", "claimName"))
    assert (found.code, found.path) == ("SP324", ("spec", "claimName"))
    assert '"imagenet"' in found.hint


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("imagenet", "imagenet"),
        ("imagenet-2", "imagenet-1"),
        ("imagenet-a", "imagenet-b"),
        ("imagenet-val", "imagenet-train"),
        ("imagenet-train", "imagenet"),
        ("imagenet-eu", "imagenet-us"),
        ("coco", "imagenet"),
        ("models", "imagenet"),
    ],
)
def test_other_names_are_not_reported(name: str, other: str) -> None:
    assert list(ClaimNames({"ml": {other: "SampleSet ml/x"}}).look("ml", name, ())) == []


def test_claims_of_other_namespaces_and_of_specs_with_errors_are_not_reported() -> None:
    names = ClaimNames({"ml": {"imagenet": "SampleSet ml/imagenet"}}, {("ml", "imagenets")})
    assert list(names.look("other", "imagnet", ())) == []
    assert list(names.look("ml", "imagenets", ())) == []
