"""References in documents that may stand for something else tomorrow: what can be pinned."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from stowplan.library.values import git_url
from stowplan.library.values.variable_references import references
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.s3_uri import S3Uri

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
HUB = "https://huggingface.co"

_HEAD = "HEAD"
"""What stands in keys for the branch that a remote takes by itself."""


class Section(StrEnum):
    """Sections of the lock file."""

    IMAGES = "images"
    GIT = "git"
    HUGGINGFACE = "huggingface"
    S3 = "s3"


@dataclass(frozen=True, slots=True)
class FloatingReference:
    """One reference of a document that can be pinned, by the section and key of its entry in the lock file.

    `path` is the field that users wrote, and `at` the one that gets the pinned value; it may not exist yet. If it is
    the next item of a DataCube's options, `option` is the name of that option.

    The other fields are what a resolver needs, each empty where the section has no use for it: `address` is the name
    of an image without its tag, the URL of a Git repository, the URL of a Hub, or the endpoint of a store; `name` is
    the repository on the Hub, with its type in the plural before it, or the bucket and prefix; `revision` is the tag,
    ref or revision; `region` is that of the bucket, and `path_style` whether its name is in the path of requests.
    """

    section: Section
    key: str
    path: FieldPath
    at: FieldPath
    address: str = ""
    name: str = ""
    revision: str = ""
    region: str = ""
    option: str = ""
    path_style: bool = False


class Spot(NamedTuple):
    """Where a reference is: `path`, `at` and `option` of `FloatingReference`."""

    path: FieldPath
    at: FieldPath
    option: str = ""


def of_git(url: Any, ref: Any, spot: Spot) -> Iterator[FloatingReference]:
    """Yield the branch or tag `ref` of a repository, its own branch if that is None; nothing for a commit.

    Values that refer to variables or have another form yield nothing.
    """
    parts = git_url.split(url) if isinstance(url, str) else None
    if isinstance(parts, git_url.GitUrl) and _literal(parts.url, ref or ""):
        revision = ref or _HEAD
        key = f"{parts.url}#{revision}"
        yield FloatingReference(Section.GIT, key, spot.path, spot.at, parts.url, revision=revision, option=spot.option)


def of_hub(repository: tuple[Any, Any, Any], revision: Any, spot: Spot) -> Iterator[FloatingReference]:
    """Yield the branch `revision` of a repository, its own branch if that is None; nothing for a commit.

    `repository` are the address of its Hub, its type, such as `dataset`, and its name. Values that refer to variables
    or have another form yield nothing.
    """
    hub, kind, repo = repository
    if repo and _literal(hub, kind, repo, revision or ""):
        name, wanted = f"{kind}s/{repo}", revision or _HEAD
        key = f"{name}@{wanted}" if hub == HUB else f"{hub}/{name}@{wanted}"
        yield FloatingReference(Section.HUGGINGFACE, key, spot.path, spot.at, hub, name, wanted, option=spot.option)


def of_s3(place: Mapping[str, Any], path: FieldPath) -> Iterator[FloatingReference]:
    """Yield the prefix of a `place`, a document's mapping at `path`; nothing if it names a listing, its `revision`."""
    given, endpoint, region = place.get("uri"), place.get("endpoint") or "", place.get("region") or ""
    uri = S3Uri.parse(given) if isinstance(given, str) else None
    if uri is None or place.get("revision") or not (isinstance(endpoint, str) and isinstance(region, str)):
        return
    name = f"{uri.bucket}/{uri.key.rstrip('/')}/" if uri.key.rstrip("/") else f"{uri.bucket}/"
    server = endpoint.rstrip("/")
    key = f"s3://{name} {server}" if server else f"s3://{name}"
    in_path = place.get("pathStyle", bool(server)) is not False
    at = (*path, "revision")
    yield FloatingReference(Section.S3, key, (*path, "uri"), at, server, name, region=region, path_style=in_path)


def _literal(*texts: Any) -> bool:
    """Whether all are strings without references to variables, and the last one is no commit."""
    return all(isinstance(each, str) and not references(each) for each in texts) and not COMMIT.fullmatch(texts[-1])
