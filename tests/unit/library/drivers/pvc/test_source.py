"""URIs in JuiceFS's form, parsed into bucket, key, endpoint and region."""

import pytest

from stowplan.library.drivers.pvc.source import S3Source, parse


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("s3://data/train/", S3Source("data", "train/")),
        ("s3://data", S3Source("data", "")),
        ("s3://data.s3.eu-central-1.amazonaws.com/a/b", S3Source("data", "a/b", region="eu-central-1")),
        ("s3://data.s3-eu-west-1.amazonaws.com/", S3Source("data", "", region="eu-west-1")),
        ("s3://data.s3.amazonaws.com/a/", S3Source("data", "a/", region="us-east-1")),
        ("s3://data.s3.dualstack.eu-west-1.amazonaws.com/a/", S3Source("data", "a/", region="eu-west-1")),
        ("s3://s3.eu-west-1.amazonaws.com/data/a/", S3Source("data", "a/", region="eu-west-1")),
        (
            "s3://data.s3.cn-north-1.amazonaws.com.cn/a/",
            S3Source("data", "a/", "https://s3.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ),
        ("s3://data.s3.example.com/a/", S3Source("data", "a/", "https://s3.example.com")),
        ("s3://data.s3.example.com:9000/a/", S3Source("data", "a/", "https://s3.example.com:9000")),
        ("s3://10.0.0.1:9000/data/a/", S3Source("data", "a/", "http://10.0.0.1:9000")),
        ("s3://localhost:9000/data", S3Source("data", "", "http://localhost:9000")),
        ("minio://minio.storage.svc:9000/data/a/", S3Source("data", "a/", "http://minio.storage.svc:9000")),
        ("s3://data/a?b#c", S3Source("data", "a?b#c")),
    ],
)
def test_sources(uri: str, expected: S3Source) -> None:
    assert parse(uri) == expected


def test_plain_http_on_request() -> None:
    assert parse("s3://data.s3.example.com/a/", plain=True) == S3Source("data", "a/", "http://s3.example.com")


@pytest.mark.parametrize(
    "uri",
    [
        "oss://data/a",
        "hdfs://name:8020/a",
        "minio://minio:9000",
        "minio://minio:9000/",
        "s3:///a",
        "s3://$(X)/a",
        "",
        "s3",
    ],
)
def test_unsupported_sources(uri: str) -> None:
    assert isinstance(parse(uri), str)
