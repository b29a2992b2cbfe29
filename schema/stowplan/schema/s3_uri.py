"""The URI of objects in an S3 store, which the compiler and the transfer agent read alike."""

from typing import NamedTuple

_SCHEME = "s3://"


class S3Uri(NamedTuple):
    """`s3://BUCKET[/KEY]`. A `?` or `#` is a part of the key, and nothing is percent-encoded."""

    bucket: str
    key: str
    """Empty for the whole bucket."""

    @classmethod
    def parse(cls, uri: str) -> "S3Uri | None":
        """Return bucket and key as they are written; None if `uri` does not begin with `s3://`. Both may be empty."""
        if not uri.startswith(_SCHEME):
            return None
        bucket, _, key = uri.removeprefix(_SCHEME).partition("/")
        return cls(bucket, key)

    @property
    def is_prefix(self) -> bool:
        """Whether the URI names all objects whose keys begin with `key`, since `key` is empty or ends in `/`."""
        return not self.key or self.key.endswith("/")
