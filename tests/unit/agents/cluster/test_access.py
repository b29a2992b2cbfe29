"""How a pod reaches the API server, and the messages if it cannot."""

import re
from pathlib import Path

import pytest

from stowplan.agents.cluster.access import from_pod
from stowplan.agents.runtime.settings import SettingsError
from tests.agents.accounts import account_directory

ENVIRONMENT = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.mark.parametrize(("host", "server"), [("10.0.0.1", "10.0.0.1"), ("fd00::1", "[fd00::1]")])
def test_address(tmp_path: Path, host: str, server: str) -> None:
    account = account_directory(tmp_path, token="secret-token")
    assert from_pod({**ENVIRONMENT, "KUBERNETES_SERVICE_HOST": host}, account).server == f"https://{server}:443"


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_outside_of_a_pod(tmp_path: Path, name: str) -> None:
    account = account_directory(tmp_path, token="secret-token")
    with pytest.raises(SettingsError, match=name):
        from_pod({**ENVIRONMENT, name: ""}, account)


@pytest.mark.parametrize("token", ["", "two words", "secret\nsecret", "sécret"])
def test_an_invalid_token_is_not_quoted(tmp_path: Path, token: str) -> None:
    account = account_directory(tmp_path, token=token)
    with pytest.raises(SettingsError) as raised:
        from_pod(ENVIRONMENT, account)
    assert "secret" not in str(raised.value)
    assert str(account) in str(raised.value)


def test_missing_files(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    with pytest.raises(SettingsError, match=re.escape(str(nothing))):
        from_pod(ENVIRONMENT, nothing)
