"""References to images, such as `registry.example.com/ml/train:1.4`, and whether their tags may move.

The grammar is that of container runtimes: https://github.com/distribution/reference, `regexp.go` and `normalize.go`. A
node refuses anything else with the reason `InvalidImageName`, without ever starting the pod.
"""

import re
from dataclasses import dataclass

HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?"
PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"

_LONGEST_NAME, _LONGEST_TAG = 255, 128
_IPV6 = r"\[[0-9A-Fa-f:]+\](?::[0-9]{1,5})?"
_NAME = re.compile(rf"(?:(?:{HOST}|{_IPV6})/)?{PART}(?:/{PART})*")
_TAG = re.compile(TAG)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}")
_ID = re.compile(r"[0-9a-f]{64}")
"""Names that look like the id of an image. Runtimes refuse them, since nobody could tell which of the two is meant."""

_MOVES = re.compile(r"latest(?:-.*)?|.*-latest|nightly|edge|main|master|dev|devel|develop")
"""Tags that their publishers move to each new image. `latest-gpu` moves as `latest` does."""


@dataclass(frozen=True, slots=True)
class ImageReference:
    """An image: `name` includes the registry, if any. `tag` and `digest` are None if the reference has none."""

    name: str
    tag: str | None = None
    digest: str | None = None

    @property
    def moves(self) -> bool:
        """Whether the reference may stand for another image tomorrow: it has no digest, and no tag or one that moves.

        Without a tag, runtimes take `latest`.
        """
        return self.digest is None and (self.tag is None or moves(self.tag))


def moves(tag: str | None) -> bool:
    """Return whether publishers move a tag of this name to each new image, such as `latest`; False for None."""
    return tag is not None and _MOVES.fullmatch(tag) is not None


def parse(text: str) -> ImageReference | None:
    """Parse the reference of an image; None if runtimes would refuse it."""
    rest, at, digest = text.partition("@")
    if at and not _DIGEST.fullmatch(digest):
        return None
    folder, slash, last = rest.rpartition("/")
    base, colon, tag = last.partition(":")
    if colon and not (_TAG.fullmatch(tag) and len(tag) <= _LONGEST_TAG):
        return None
    name = f"{folder}{slash}{base}"
    if not _NAME.fullmatch(name) or _ID.fullmatch(name) or len(name) > _LONGEST_NAME:
        return None
    return ImageReference(name, tag if colon else None, digest if at else None)
