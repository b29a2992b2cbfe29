"""What `juicefs sync` takes from those that start it: keys of a source, and patterns. JuiceFS 1.2 to 1.4."""

import re

KEY_VARIABLES = {
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    "minio": ("MINIO_ACCESS_KEY", "MINIO_SECRET_KEY"),
    "bos": ("BDCLOUD_ACCESS_KEY", "BDCLOUD_SECRET_KEY"),
    "cos": ("COS_SECRETID", "COS_SECRETKEY"),
    "eos": ("EOS_ACCESS_KEY", "EOS_SECRET_KEY"),
    "obs": ("HWCLOUD_ACCESS_KEY", "HWCLOUD_SECRET_KEY"),
    "oss": ("ALICLOUD_ACCESS_KEY_ID", "ALICLOUD_ACCESS_KEY_SECRET"),
    "scw": ("SCW_ACCESS_KEY", "SCW_SECRET_KEY"),
}
"""By scheme, the variables that JuiceFS reads keys from (`pkg/object`). Other schemes take keys in the address alone, where
everybody on the node could read them."""

_MEMBER = r"(?:\\.|[^\\\]-])"
_PIECE = re.compile(rf"\[\^?+(?:{_MEMBER}(?:-{_MEMBER})?)+\]|\\.|[^\[\\]", re.DOTALL)
"""One step of a pattern as Go's `path.Match` reads it: a set, an escaped character, any other one."""


def is_ignored(pattern: str) -> bool:
    """Whether JuiceFS passes over a pattern of `include` or `exclude` with no more than a warning.

    It drops what Go's `path.Match` cannot read, and splits `--exclude=PATTERN` at each `=` (`parseIncludeRules`). A
    pattern with a `=` can be a word of its own, unless it looks like an option itself.
    """
    return (pattern.startswith("-") and "=" in pattern) or bool(_PIECE.sub("", pattern))
