"""Addresses and refs that can be none."""

from typing import Any

import pytest

from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.remotes.git.settings import git_settings
from stowplan.agents.transfer.settings import settings
from stowplan.schema.agents.transfer_config import TransferConfig

CONFIG: dict[str, Any] = {
    "target": {"kind": "DataCube", "namespace": "n", "name": "c"},
    "reportPhase": False,
    "source": {"type": "git", "urlEnv": "URL", "refEnv": "REF"},
    "sink": {"type": "pvc", "claim": "c"},
    "memoryMiB": 512,
    "state": {"directory": ".stowplan/c", "lock": ".stowplan/lock"},
}


def refused(url: str, ref: str) -> str:
    with pytest.raises(SettingsError) as raised:
        git_settings(settings(TransferConfig.model_validate(CONFIG), {"URL": url, "REF": ref}))
    return str(raised.value)


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("ssh://git@example.com/a/b.git", "https://"),
        ("git@example.com:a/b.git", "https://"),
        ("https://user:p4ss/word@example.com/a/b.git", "URL"),
        ("https://example.com/", "no repository"),
        ("https://example.com/a/b.git?private_token=p4ssword", "?"),
        ("https://example.com/a/..", "no name"),
        ("https://example.com/a/.git", "no name"),
        ("two\nlines-p4ss", "newline"),
        ("", "empty"),
    ],
)
def test_addresses_that_cannot_be(url: str, part: str) -> None:
    message = refused(url, "main")
    assert part in message
    assert "p4ss" not in message


@pytest.mark.parametrize("ref", ["-x", "--upload-pack=touch x", "a b", "a..b", "x.lock", "a~1", "/a", "a:b"])
def test_names_that_can_be_no_ref(ref: str) -> None:
    assert "neither a branch nor a tag nor a commit" in refused("https://example.com/a/b.git", ref)
