"""Formats of the strings that become a mount option or an argument of `juicefs`.

The JuiceFS CSI driver joins mount options into a command line for `sh -c`, which runs as root in a privileged container
(`juicefs-csi-driver`, `pkg/juicefs/mount/builder`). Its quoting is that of bash, but the shell of its image is dash. So
each form lists its allowed characters, none of which is special to a shell.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """Pattern that a whole string must match, and the description of the pattern for messages."""

    pattern: re.Pattern[str]
    words: str

    def fits(self, text: str) -> bool:
        """Return whether the whole string has this form."""
        return self.pattern.fullmatch(text) is not None


def _form(pattern: str, words: str) -> Form:
    return Form(re.compile(pattern), words)


PATH = _form(r"[A-Za-z0-9._/@%+:-]+", "a path of letters, digits and . _ / @ % + : -")
ADDRESS = _form(r"[A-Za-z0-9.-]*:[0-9]{1,5}", "a host and a port, such as 0.0.0.0:9567")
RATIO = _form(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", 'a number, such as "0.2"')
DURATION = _form(
    r"[0-9]+(\.[0-9]+)?|([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d))+", "a duration, such as 24h, 1h30m, or seconds"
)
MODE = _form(r"[0-7]{1,5}", "an octal file mode, such as 0600")
SIZE = _form(r"[0-9]+(\.[0-9]+)?[BKMGTPEbkmgtpe]?", "a size, such as 10M or 1G")
WORD = _form(r"[A-Za-z0-9][A-Za-z0-9._-]*", "a word of letters, digits and . _ -")
KEY = _form(r"[\w./@%+:=,-]+", "a string of letters, digits and . _ / @ % + : = , -")
PATTERN = _form(
    r"[\w./@%+:=,*?\[\]^!\\-]+",
    "a string of letters, digits and . _ / @ % + : = , - with the signs * ? [ ] ^ ! \\ of a pattern",
)
"""Pattern for `juicefs sync`, which is started without a shell. The signs of a pattern are special only to JuiceFS."""

MOUNT_FORMS: Mapping[str, Form] = {
    "metrics": ADDRESS,
    "cache-dir": PATH,
    "cache-expire": DURATION,
    "cache-scan-interval": DURATION,
    "cache-mode": MODE,
    "free-space-ratio": RATIO,
    "sub-dir": PATH,
    "backup-meta": DURATION,
}
"""Forms of `MountOptions` by option: all options with a free string. Others are numbers, flags or fixed words."""

SYNC_FORMS: Mapping[str, Form] = {
    "source": KEY,
    "destination": KEY,
    "start": KEY,
    "end": KEY,
    "exclude": PATTERN,
    "include": PATTERN,
    "max-size": SIZE,
    "min-size": SIZE,
    "max-age": DURATION,
    "min-age": DURATION,
    "storage-class": WORD,
}
"""Forms of `SyncOptions` by option: all strings that are passed to `juicefs sync`."""

MOUNT_OPTION = _form(
    r"-{0,2}[A-Za-z0-9][A-Za-z0-9._-]*(=[A-Za-z0-9._/@%+:,=-]*)?",
    "NAME or NAME=VALUE with values of letters, digits and . _ / @ % + : , = -",
)
"""Form of one entry of a volume's `mountOptions`, for any CSI driver."""
