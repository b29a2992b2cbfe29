"""Parsing of URIs of S3 objects."""

import pytest

from stowplan.schema.s3_uri import S3Uri


@pytest.mark.parametrize(
    ("uri", "bucket", "key", "is_prefix"),
    [
        ("s3://models", "models", "", True),
        ("s3://models/", "models", "", True),
        ("s3://models/llama/", "models", "llama/", True),
        ("s3://models/llama/config.json", "models", "llama/config.json", False),
        ("s3://models//a b?c#d%20", "models", "/a b?c#d%20", False),
        ("s3://", "", "", True),
    ],
)
def test_bucket_and_key_are_read_as_they_are_written(uri: str, bucket: str, key: str, is_prefix: bool) -> None:  # noqa: FBT001
    found = S3Uri.parse(uri)
    assert found == (bucket, key)
    assert found.is_prefix == is_prefix


@pytest.mark.parametrize("uri", ["", "models/llama", "https://models/llama", "S3://models", "s3:/models"])
def test_other_strings_are_no_uris_of_objects(uri: str) -> None:
    assert S3Uri.parse(uri) is None
