"""Source URIs, as the old operator's `ValidateSourceURI` accepted and JuiceFS reads them."""

import pytest

from stowplan.library.dialects.shared import source_uri

PATH = ("spec", "source", "uri")


def codes(uri: str) -> list[str]:
    return [found.code for found in source_uri.findings(uri, PATH)]


def test_files_of_the_task_s_own_pod_are_no_source() -> None:
    assert codes("file:///var/run/secrets/kubernetes.io/") == ["SP402"]


@pytest.mark.parametrize(
    "uri",
    [
        "s3://bucket",
        "s3://bucket.s3.eu-central-1.amazonaws.com/train/",
        "bos://paddleflow-public.hkg.bcebos.com/imagenet/demo",
        "minio://minio.ml:9000/bucket/prefix",
        "hdfs://namenode:9000/data",
        "minio://minio.ml:9000/bucket/user@example.com",
        "redis://192.0.2.1:6379/1",
        "s3://bucket/a%20b",
        "s3://bucket/user@example.com/a",
        "s3://bucket/12:30/a",
    ],
)
def test_uri(uri: str) -> None:
    assert codes(uri) == []


@pytest.mark.parametrize(
    "uri",
    [
        "bucket/train",
        "s3:/bucket",
        "s3://",
        "s3:///",
        "s3://a://b",
        "s4://bucket",
        "S3://bucket",
        "s3://b/a b",
        "s3://b/a\n",
    ],
)
def test_no_uri(uri: str) -> None:
    assert codes(uri) == ["SP402"]


@pytest.mark.parametrize(
    "uri",
    [
        "s3://AKIA:hidden@bucket/a",
        "s3://hidden@bucket",
        "s3://:hidden@bucket",
        "s3://AKIA:a/hidden@b@bucket",
        "file:///a:hidden@b",
    ],
)
def test_credentials_are_refused_and_never_repeated(uri: str) -> None:
    (found,) = source_uri.findings(uri, PATH)
    assert found.code == "SP603"
    assert "hidden" not in found.message
    assert "hidden" not in source_uri.redacted(uri)


def test_a_message_holds_no_credentials() -> None:
    (found,) = source_uri.findings("s3://AKIA:hidden@bucket://a", PATH)
    assert "hidden" not in found.message
