"""Storage classes of objects that cannot be read before they are restored."""

from collections.abc import Mapping

_ARCHIVES = frozenset(
    {
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-class-intro.html; GLACIER_IR is read at once.
        "GLACIER",
        "DEEPARCHIVE",
        # Alibaba Cloud OSS, Tencent COS, Baidu BOS, Volcengine TOS; with Google, ARCHIVE is read at once.
        "ARCHIVE",
        "MAZARCHIVE",
        "COLDARCHIVE",
        "DEEPCOLDARCHIVE",
        # Huawei OBS; with Baidu, COLD is read at once.
        "COLD",
        # IBM Cloud Object Storage.
        "ACCELERATED",
    }
)
"""Storage classes of archives, of which some stores read some at once. Case, `-` and `_` do not count."""


def archive_of(storage_class: str) -> str:
    """Return a storage class as it is if it may be one of an archive; otherwise an empty string."""
    return storage_class if storage_class.upper().replace("_", "").replace("-", "") in _ARCHIVES else ""


def archive_of_headers(headers: Mapping[str, str]) -> str:
    """Return the storage class of an object from the headers about it; empty if it is in no archive, or restored."""
    restored = 'ongoing-request="false"' in headers.get("x-amz-restore", "")
    return "" if restored else archive_of(headers.get("x-amz-storage-class", ""))
