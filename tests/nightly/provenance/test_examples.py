"""Sources of all values of the output of all examples, by thousands of experiments."""

import pytest

from tests.repositories import EXAMPLES
from tests.unit.compiler.provenance.test_provenance import assert_explained, mapped


@pytest.mark.timeout(2700)  # while other tests run, the largest example takes over 900 seconds
@pytest.mark.parametrize("example", EXAMPLES)
def test_every_leaf_of_every_object_is_explained(example: str) -> None:
    compiled, found = mapped(EXAMPLES[example])
    assert_explained(compiled.outputs, found, EXAMPLES[example])
