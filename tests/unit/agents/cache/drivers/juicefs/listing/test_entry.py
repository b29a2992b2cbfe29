"""What the addresses of a sync mean."""

import pytest

from stowplan.agents.cache.drivers.juicefs.listing.entry import Place


@pytest.mark.parametrize(
    ("address", "in_path", "place"),
    [
        ("oss://bucket.example.com/", False, Place("oss://bucket.example.com/")),
        ("oss://bucket.example.com", False, Place("oss://bucket.example.com")),
        ("oss://bucket.example.com/a/b/", False, Place("oss://bucket.example.com/a/b/")),
        ("oss://bucket.example.com/a/b", False, Place("oss://bucket.example.com/a/", "b")),
        ("oss://bucket.example.com/b%20%C3%A4", False, Place("oss://bucket.example.com/", "b \u00e4")),
        ("minio://store:9000/bucket", True, Place("minio://store:9000/bucket")),
        ("minio://store:9000/bucket/", True, Place("minio://store:9000/bucket/")),
        ("minio://store:9000/bucket/a", True, Place("minio://store:9000/bucket/", "a")),
        ("jfs://JFS/sets/a.tar", False, Place("jfs://JFS/sets/", "a.tar")),
        ("file:///claim/ml/corpus/", False, Place("file:///claim/ml/corpus/")),
    ],
)
def test_place_of_an_address(address: str, in_path: bool, place: Place) -> None:  # noqa: FBT001
    assert Place.of(address, bucket_in_path=in_path) == place
