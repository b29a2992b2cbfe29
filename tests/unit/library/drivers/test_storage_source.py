"""Sources that `juicefs sync` reads."""

import pytest

from stowplan.library.drivers import storage_source
from stowplan.library.ir.data import SecretName, Source


@pytest.mark.parametrize(
    ("uri", "secret", "codes"),
    [
        ("s3://b/a", "keys", []),
        ("scw://b.s3.fr-par.scw.cloud/", "keys", []),
        ("gs://b/a", "keys", ["SP419"]),
        ("gs://b/a", "", []),
        ("file:///a", "keys", []),
        ("nonsense://b", "keys", []),
    ],
)
def test_keys_that_are_possible_only_in_an_address(uri: str, secret: str, codes: list[str]) -> None:
    found = storage_source.findings(Source(uri, SecretName("ml", secret)), ("spec", "source", "uri"))
    assert [each.code for each in found] == codes
