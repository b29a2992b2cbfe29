"""How `juicefs sync` (JuiceFS 1.2 to 1.4) takes the access keys of a source, and which patterns it accepts."""

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
"""Environment variables from which JuiceFS reads access key and secret key, by scheme of the URI (`pkg/object`).

For other schemes JuiceFS takes them only in the URI on its command line, which every user of the cluster node can read.
"""

_MEMBER = r"(?:\\.|[^\\\]-])"
_PIECE = re.compile(rf"\[\^?+(?:{_MEMBER}(?:-{_MEMBER})?)+\]|\\.|[^\[\\]", re.DOTALL)
"""One step of a pattern in Go's `path.Match`: a set, an escaped character, or any other character."""


def is_ignored(pattern: str) -> bool:
    """Return whether JuiceFS ignores a pattern of `include` or `exclude` with only a warning.

    It drops patterns that Go's `path.Match` cannot parse, and splits `--exclude=PATTERN` at each `=`
    (`parseIncludeRules`). A pattern with a `=` can be a separate argument, unless it looks like an option itself.
    """
    return (pattern.startswith("-") and "=" in pattern) or bool(_PIECE.sub("", pattern))
