"""Options from environment variables."""

import pytest

from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.settings import Values

VALUES = Values({"TOKEN": "t\r\n", "EMPTY": "\n", "BLANK": "  ", "TWO": "a\nb", "TAB": "a\tb", "DELETE": "a\x7f"})


def test_trailing_newlines_are_removed() -> None:
    assert VALUES.optional("TOKEN") == VALUES.required("TOKEN") == "t"


@pytest.mark.parametrize("name", ["EMPTY", "BLANK", "ABSENT", None])
def test_empty_and_missing_variables_are_none(name: str | None) -> None:
    """The kubelet omits a variable whose key is optional and missing."""
    assert VALUES.optional(name) is None


@pytest.mark.parametrize(("name", "what"), [("EMPTY", "is empty"), ("ABSENT", "is not set")])
def test_required_variable_must_be_set(name: str, what: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} {what}"):
        VALUES.required(name)


@pytest.mark.parametrize("name", ["TWO", "TAB", "DELETE"])
def test_control_characters_are_refused_and_the_value_is_not_shown(name: str) -> None:
    with pytest.raises(SettingsError) as raised:
        VALUES.optional(name)
    assert "a" + VALUES.environment[name][1:] not in str(raised.value)
