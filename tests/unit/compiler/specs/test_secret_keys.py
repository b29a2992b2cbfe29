"""Keys of the Secrets in the repository: wrong documents are left out and raise nothing."""

import json
from typing import Any

import pytest

from stowplan.compiler.specs.secret_keys import Keys, defined
from stowplan.compiler.yaml.reader import read


def keys(kind: str, spec: Any) -> Keys:
    documents, _ = read(json.dumps({"kind": kind, "metadata": {"name": "a"}, "spec": spec}), "specs/a.yaml")
    return defined(documents, "ml")


def test_an_external_secret_has_the_keys_of_its_items() -> None:
    assert keys("ExternalSecret", {"data": [{"secretKey": "token"}]}) == {("ml", "a"): frozenset({"token"})}


@pytest.mark.parametrize("data", [5, True, "text", {"secretKey": "token"}, None])
def test_an_external_secret_without_a_list_has_no_keys(data: Any) -> None:
    assert keys("ExternalSecret", {"data": data}) == {("ml", "a"): frozenset()}
