"""Options from environment variables."""

import pytest

from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.settings import Values, secrets
from stowplan.schema.agents.transfer_config import TransferConfig

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


def test_blanks_around_an_option_are_removed() -> None:
    assert Values({"REGION": " eu-1 \n"}).optional("REGION") == "eu-1"


def test_blanks_of_a_secret_belong_to_it() -> None:
    values = Values({"PASSWORD": " p \r\n"})
    assert values.optional("PASSWORD", secret=True) == values.required("PASSWORD", secret=True) == " p "


def test_a_token_is_hidden_as_it_is_sent() -> None:
    """The clients get it without the blanks around it."""
    fields = {
        "target": {"kind": "DataCube", "namespace": "n", "name": "c"},
        "reportPhase": False,
        "source": {"type": "huggingface", "repoEnv": "REPO", "tokenEnv": "TOKEN"},
        "sink": {"type": "pvc", "claim": "c"},
        "memoryMiB": 512,
        "state": {"directory": ".stowplan/c", "lock": ".stowplan/lock"},
    }
    assert "hf_abc" in secrets(TransferConfig.model_validate(fields), {"TOKEN": "  hf_abc \n"})


@pytest.mark.parametrize("name", ["TWO", "TAB", "DELETE"])
def test_control_characters_are_refused_and_the_value_is_not_shown(name: str) -> None:
    with pytest.raises(SettingsError) as raised:
        VALUES.optional(name)
    assert "a" + VALUES.environment[name][1:] not in str(raised.value)
