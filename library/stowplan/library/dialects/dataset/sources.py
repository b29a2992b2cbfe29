"""Rules of a Dataset's source."""

import re
from collections.abc import Iterator

from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.shared import secrets, source_uri
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.native.dataset import Dataset, DatasetSource
from stowplan.schema.kinds.native.places import GitPlace, HubPlace, LocalSecret, S3Place, S3Source
from stowplan.schema.meta import SecretReference
from stowplan.schema.remotes.git import NO_REF, repository_directory
from stowplan.schema.s3_uri import S3Uri

PATH: FieldPath = ("spec", "source")

_REPO = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?", re.ASCII)

_ADVICE = {
    "hf": "Write it as `source.huggingface`.",
    "huggingface": "Write it as `source.huggingface`.",
    "git": "Write it as `source.git`, with its https address.",
    "ssh": "Write it as `source.git`, with its https address.",
    "jfs": "Give the URI of the object storage, or no `source` if the data is in the volume already.",
    "file": "Copy from a storage that the network reaches, or give no `source` and fill the volume by other means.",
}
"""What to do instead, by the scheme of a URI that is no storage."""


def findings(model: Dataset) -> Iterator[Finding]:
    """Yield findings about the source of a Dataset."""
    source = model.spec.source
    if source is None:
        return
    kinds = {key: getattr(source, key) for key in ("s3", "huggingface", "git", "storage")}
    yield from exactly_one(kinds, PATH, "A dataset has one source")
    for key, place in kinds.items():
        if place is not None and place.secret_ref:
            yield from secret(place.secret_ref, (*PATH, key, "secretRef"))
    if source.s3:
        yield from _s3(source.s3, (*PATH, "s3"))
    if source.huggingface:
        yield from hub(source.huggingface, (*PATH, "huggingface"))
    if source.git:
        yield from git(source.git, (*PATH, "git"))
    if source.storage:
        yield from source_uri.findings(source.storage.uri, (*PATH, "storage", "uri"), _ADVICE)
    yield from _patterns(source)


def secret(reference: LocalSecret, path: FieldPath) -> list[Finding]:
    """Return findings about a name that no Secret can have. `path` is the path of the reference."""
    return secrets.name_findings(SecretReference(name=reference.name), path)


def s3(place: S3Place, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about the URI of objects in an S3 store. `path` is the path of the place."""
    uri = S3Uri.parse(place.uri)
    if uri is None or "@" in uri.bucket or source_uri.carries_credentials(place.uri):
        message = "The URI carries credentials; what is committed to Git is no secret any more."
        hint = "Put them into the Secret of `secretRef`, remove them here, and revoke them."
        yield finding("SP603", (*path, "uri"), message, hint)
    elif ":" in uri.bucket and not (place.endpoint and place.path_style is not False):
        message = f'"{uri.bucket}" is the bucket of a tenant, which only a path can hold, and not the name of a host.'
        hint = "Give the `endpoint` of the store, without `pathStyle: false`."
        yield finding("SP494", (*path, "uri"), message, hint)


def _s3(source: S3Source, path: FieldPath) -> Iterator[Finding]:
    yield from s3(source, path)
    if source.anonymous and source.secret_ref:
        message = "With `anonymous: true` no credentials are sent, and `secretRef` names some."
        yield finding("SP461", (*path, "anonymous"), message, "Remove one of the two.", anchor=Anchor.KEY)
    elif not source.anonymous and not source.secret_ref:
        message = "An S3 store needs credentials, and roles of pods and nodes are not used."
        hint = "Name a Secret as `secretRef`, or write `anonymous: true` for a public bucket."
        yield finding("SP461", path, message, hint, anchor=Anchor.KEY)


def hub(place: HubPlace, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about the name of a repository on a Hub. `path` is the path of the place."""
    if not _REPO.fullmatch(place.repo) or ".." in place.repo:
        message = f"{place.repo!a} is not a repository: found neither `owner/name` nor `name`."
        yield finding("SP494", (*path, "repo"), message, "Write for example `google/gemma-2b`.")


def git(place: GitPlace, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about a URL, or a branch, tag or commit, that cannot be used. `path` is the path of the place."""
    if source_uri.carries_credentials(place.url):
        message = "The URL carries credentials; what is committed to Git is no secret any more."
        hint = "Put them into the Secret of `secretRef`, remove them here, and revoke them."
        yield finding("SP603", (*path, "url"), message, hint)
    elif repository_directory(place.url) in ("", ".", "..", ".git"):
        message = "The last segment of the URL is no name for the directory of the repository."
        yield finding("SP495", (*path, "url"), message, "Write https://host/owner/repository.git.")
    if place.ref is not None and NO_REF.search(place.ref):
        message = f"{place.ref!a} can be neither a branch nor a tag nor a commit."
        yield finding("SP494", (*path, "ref"), message, "Give a name as `git branch` shows it.")


def _patterns(source: DatasetSource) -> Iterator[Finding]:
    """Yield findings about patterns of a commit of Git, which is always copied as a whole."""
    for field in ("include", "exclude"):
        if source.git and getattr(source.git, field) is not None:
            message = "A commit of Git is copied as a whole."
            hint = "Remove it. Leave out what jobs do not need in the jobs."
            yield finding("SP464", (*PATH, "git", field), message, hint, anchor=Anchor.KEY)
