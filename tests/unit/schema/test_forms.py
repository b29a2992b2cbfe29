"""Each form of a string in what users write has words: nobody has to read a regular expression."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from stowplan.compiler.specs.retired_runs import RetiredRun
from stowplan.schema.forms import FORMS
from stowplan.schema.kinds.kubernetes_shapes import QUANTITY
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.lock import Lock
from stowplan.schema.platform.platform import Platform


def patterns(schema: Any) -> Iterator[str]:
    match schema:
        case dict():
            if isinstance(found := schema.get("pattern"), str):
                yield found
            for each in schema.values():
                yield from patterns(each)
        case list():
            for each in schema:
                yield from patterns(each)


@pytest.mark.parametrize("model", [*(kind.model for kind in KINDS.values()), Platform, Lock, RetiredRun])
def test_each_form_has_words(model: type[BaseModel]) -> None:
    """Quantities have a rule of their own, which says what they are."""
    assert set(patterns(model.model_json_schema())) <= {*FORMS, QUANTITY["pattern"]}


def test_the_words_are_none_of_a_regular_expression() -> None:
    assert not [words for words in FORMS.values() if re.search(r"[\^$\\\[\]?]|\{\d", words)]
