"""What all tests of the compiler share."""

from collections.abc import Iterator
from functools import cache

import pytest

from stowplan.compiler.generate import export


@pytest.fixture(scope="session", autouse=True)
def _editor_schemas_are_generated_once() -> Iterator[None]:
    """They take half a second, for each repository that a test begins with `stowplan init`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "schemas", cache(export.schemas))
        yield
