"""Credentials as variables, and addresses without their passwords."""

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.credentials import (
    password_apart,
    secrets,
    source_variables,
    volume_variables,
)

KEYS = {"STOWPLAN_SOURCE_ACCESS_KEY": "ak\n", "STOWPLAN_SOURCE_SECRET_KEY": "sk\r\n"}


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("redis://:p%40ss@host:6379/1", ("redis://@host:6379/1", "p@ss")),
        ("redis://user:pass@host:6379/1", ("redis://user@host:6379/1", "pass")),
        ("redis://host:6379/1", ("redis://host:6379/1", "")),
        ("host:6379/1", ("redis://host:6379/1", "")),
        (":pass@host/1", ("redis://@host/1", "pass")),
        ("mysql://user:pa@ss@(host:3306)/db", ("mysql://user@(host:3306)/db", "pa@ss")),
        ("tikv://a:2379,b:2379/x", ("tikv://a:2379,b:2379/x", "")),
    ],
)
def test_a_password_is_removed_from_an_address(address: str, wanted: tuple[str, str]) -> None:
    assert password_apart(address) == wanted


def test_keys_of_a_source_get_the_names_that_juicefs_reads() -> None:
    assert source_variables("s3://bucket/", KEYS) == {"AWS_ACCESS_KEY_ID": "ak", "AWS_SECRET_ACCESS_KEY": "sk"}
    assert source_variables("bos://bucket/", KEYS) == {"BDCLOUD_ACCESS_KEY": "ak", "BDCLOUD_SECRET_KEY": "sk"}
    assert source_variables("ks3://bucket/", {}) == {}
    with pytest.raises(AttemptError) as caught:
        source_variables("ks3://bucket/", KEYS)
    assert caught.value.code == 2


def test_a_pod_with_an_identity_needs_no_keys() -> None:
    role = {"AWS_ROLE_ARN": "arn", "AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_REGION": "eu"}
    assert source_variables("s3://bucket/", role) == role
    assert set(source_variables("s3://bucket/", KEYS | role)) == {
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_REGION",
    }


def test_variables_of_the_volume_never_change_the_program_itself() -> None:
    envs = '{"META_PASSWORD": "x", "PATH": "/evil", "LD_PRELOAD": "/evil.so"}'
    assert volume_variables({"STOWPLAN_VOLUME_ENVS": envs}) == {"META_PASSWORD": "x"}
    assert volume_variables({}) == {}
    for wrong in ("[]", "{", '{"a": 1}'):
        with pytest.raises(AttemptError):
            volume_variables({"STOWPLAN_VOLUME_ENVS": wrong})


def test_all_secrets_are_redacted() -> None:
    found = secrets(
        {
            **KEYS,
            "STOWPLAN_VOLUME_METAURL": "redis://:p%40ss@host/1",
            "STOWPLAN_VOLUME_SECRET_KEY": "volume",
            "STOWPLAN_VOLUME_ENVS": '{"META_PASSWORD": "meta"}',
        }
    )
    assert {"ak", "sk", "p%40ss", "p@ss", "volume", "meta"} <= set(found)
    assert "broken" in secrets({"STOWPLAN_VOLUME_ENVS": "broken"})
    # Output of programs is read line by line.
    assert {"a key", "of two lines"} <= set(secrets({"STOWPLAN_VOLUME_ENVS": '{"KEY": "a key\\nof two lines"}'}))
