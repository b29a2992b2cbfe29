"""Concurrency and part sizes of an S3 transfer."""

import pytest

from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.remotes.s3.settings import S3Settings, s3_settings
from stowplan.agents.transfer.settings import settings
from stowplan.schema.agents.transfer_config import TransferConfig

MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40
ENVIRONMENT = {"ENDPOINT": "https://s3.example.com", "ID": "id", "KEY": "key"}


def parsed(memory: int = 512, environment: dict[str, str] = ENVIRONMENT, **remote: object) -> S3Settings:
    source = {"type": "s3", "uri": "s3://b/k", "accessKeyIdEnv": "ID", "secretAccessKeyEnv": "KEY", **remote}
    fields = {
        "target": {"kind": "DataCube", "namespace": "n", "name": "c"},
        "reportPhase": False,
        "source": source,
        "sink": {"type": "pvc", "claim": "c"},
        "memoryMiB": memory,
        "state": {"directory": ".stowplan/c", "lock": ".stowplan/lock"},
    }
    return s3_settings(settings(TransferConfig.model_validate(fields), environment))


@pytest.mark.parametrize("size", [1, 80 * GIB, 160 * GIB, TIB, 5 * TIB, 50 * TIB])
def test_an_object_has_fewer_parts_than_s3_takes(size: int) -> None:
    part = parsed().part_size(size)
    assert part >= 16 * MIB
    assert -(-size // part) <= 9_500


@pytest.mark.parametrize(("memory", "streams"), [(64, 1), (72, 3), (128, 8), (4096, 8)])
def test_little_memory_means_few_requests_at_one_time(memory: int, streams: int) -> None:
    assert parsed(memory).common.streams == streams


@pytest.mark.parametrize(
    ("value", "endpoint"),
    [
        ("https://h:9000/\n", "https://h:9000"),
        ("minio.ml:9000", "https://minio.ml:9000"),
        ("http://h/p/", "http://h/p"),
    ],
)
def test_endpoint_with_or_without_a_scheme(value: str, endpoint: str) -> None:
    bucket = parsed(environment={**ENVIRONMENT, "ENDPOINT": value}, endpointEnv="ENDPOINT").bucket
    assert (bucket.endpoint, bucket.path_style) == (endpoint, True)


def test_blanks_around_a_secret_key_belong_to_it() -> None:
    credentials = parsed(environment={"ID": " id ", "KEY": " key \n"}).bucket.credentials
    assert credentials
    assert (credentials.access_key_id, credentials.secret_access_key) == ("id", " key ")


def test_aws_is_the_default_endpoint() -> None:
    bucket = parsed(regionEnv="REGION", environment={**ENVIRONMENT, "REGION": "eu-west-1"}).bucket
    assert (bucket.host, bucket.scheme) == ("b.s3.eu-west-1.amazonaws.com", "https")


@pytest.mark.parametrize("value", ["ftp://h", "https://u:p@h", "https://h/path?query", "https://", "https://h:x"])
def test_endpoint_of_another_form_is_refused(value: str) -> None:
    with pytest.raises(SettingsError):
        parsed(environment={**ENVIRONMENT, "ENDPOINT": value}, endpointEnv="ENDPOINT")


@pytest.mark.parametrize("uri", ["s3://", "https://b/k", "s3://u@b/k"])
def test_uri_of_another_form_is_refused(uri: str) -> None:
    with pytest.raises(SettingsError):
        parsed(uri=uri)


def test_token_that_is_missing_is_none() -> None:
    credentials = parsed(sessionTokenEnv="TOKEN").bucket.credentials
    assert credentials
    assert credentials.session_token is None
