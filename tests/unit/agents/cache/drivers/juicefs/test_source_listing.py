"""What JuiceFS takes the URL of a source for (`createSyncStorage` of `cmd/sync.go` and `newS3` of JuiceFS 1.3)."""

import pytest

from stowplan.agents.cache.drivers.juicefs.source_listing import prefix_of
from stowplan.agents.transfer.remotes.s3.revision import Bucket

EAST = "us-east-1"


def at(endpoint: str, prefix: str = "", region: str = EAST, *, path_style: bool = True) -> tuple[Bucket, str]:
    return Bucket("samples", endpoint, region, path_style=path_style, credentials=None), prefix


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("minio://store:9000/samples/", at("http://store:9000")),
        ("minio://store:9000/samples", at("http://store:9000")),
        ("minio://store:9000/samples/train/a%20b/", at("http://store:9000", "train/a b/")),
        ("s3://127.0.0.1:9000/samples/train/", at("https://127.0.0.1:9000", "train/")),
        ("s3://samples.127.0.0.1:9000/train/", at("http://127.0.0.1:9000", "train/")),
        ("s3://samples.s3.cn-north-1.jdcloud-oss.com/", at("https://s3.cn-north-1.jdcloud-oss.com")),
        (
            "s3://samples.s3.eu-west-1.amazonaws.com/train/",
            at("https://s3.eu-west-1.amazonaws.com", "train/", "eu-west-1", path_style=False),
        ),
        (
            "s3://samples.s3-eu-west-1.amazonaws.com/",
            at("https://s3-eu-west-1.amazonaws.com", "", "eu-west-1", path_style=False),
        ),
        ("s3://samples.s3.amazonaws.com/", at("https://s3.amazonaws.com", path_style=False)),
        (
            "s3://samples.s3.cn-north-1.amazonaws.com.cn/",
            at("https://s3.cn-north-1.amazonaws.com.cn", "", "cn-north-1", path_style=False),
        ),
        (
            "s3://s3.eu-west-1.amazonaws.com/samples/train/",
            at("https://s3.eu-west-1.amazonaws.com", "train/", "eu-west-1"),
        ),
        ("S3://samples/train/", at("https://s3.us-east-1.amazonaws.com", "train/", path_style=False)),
    ],
)
def test_prefixes_of_s3_stores(source: str, wanted: tuple[Bucket, str]) -> None:
    assert prefix_of(source, {}, no_https=False) == wanted


@pytest.mark.parametrize(
    "source",
    [
        "oss://samples.oss-cn-beijing.aliyuncs.com/",
        "file:///data/",
        "s3://samples.store/train/1.jpg",
        "minio://store:9000/",
        "minio://key:word@store:9000/samples/",
        "s3://samples.store/train/?disable-checksum=true",
    ],
)
def test_no_prefix_of_an_s3_store(source: str) -> None:
    assert prefix_of(source, {}, no_https=False) is None


def test_region_and_protocol_by_environment_and_option() -> None:
    found = prefix_of("s3://samples.store/", {"AWS_REGION": "eu-west-1"}, no_https=True)
    assert found == at("http://store", region="eu-west-1")
