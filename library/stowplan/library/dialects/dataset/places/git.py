"""Git repositories as places of the native kinds."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.places.place import PlaceSide, literals, secret_env, spot
from stowplan.library.dialects.reading import floating
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.library.dialects.shared import source_uri
from stowplan.library.ir.data import Remote
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.remotes.git import (
    NO_REF,
    GitCheckout,
    GitEndpoint,
    GitPlace,
    GitSource,
    GitTarget,
    repository_directory,
)
from stowplan.schema.remotes.remote import option_env

_URL, _REF = option_env("url"), option_env("ref")
_KEYS = {"token": option_env("token"), "username": option_env("username")}
"""Environment variables by key of the Secret."""


def _remote(place: GitPlace, namespace: str) -> Remote:
    secret = place.secret_ref
    return Remote(
        GitEndpoint(
            urlEnv=_URL,
            tokenEnv=_KEYS["token"] if secret else None,
            usernameEnv=_KEYS["username"] if secret else None,
            refEnv=_REF if place.ref else None,
            lfs=place.lfs is not False,
            # Jobs read the files of one commit. Its history is neither data nor code.
            depth=1 if isinstance(place, GitCheckout) else None,
            submodules=isinstance(place, GitCheckout) and place.submodules is True,
        ),
        (
            *secret_env(secret, namespace, _KEYS, optional=("username",)),
            *literals({_URL: place.url, _REF: place.ref}),
        ),
        agent="git",
        keys=("token",) if secret else (),
    )


def _findings(place: GitPlace, path: FieldPath) -> Iterator[Finding]:
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


def _of_source(source: GitSource, path: FieldPath) -> Iterator[Finding]:
    for field in ("include", "exclude"):
        if getattr(source, field) is not None:
            message = "A commit of Git is copied as a whole."
            hint = "Remove it. Leave out what jobs do not need in the jobs."
            yield finding("SP464", (*path, field), message, hint, anchor=Anchor.KEY)


def _of_target(target: GitTarget, path: FieldPath) -> Iterator[Finding]:
    if target.ref is not None:
        message = "A copy pushes the branch that is checked out in the dataset, and no other one."
        yield finding("SP468", (*path, "ref"), message, "Remove it.", anchor=Anchor.KEY)


def _shown(place: Json) -> str:
    ref = f"@{place['ref']}" if place.get("ref") else ""
    return f"{place.get('url', '')}{ref}"


def _pins(place: Json, path: FieldPath) -> Iterator[FloatingReference]:
    return floating.of_git(place.get("url"), place.get("ref"), spot(place, path, "ref"))


PLACE = PlaceSide(_remote, _findings, _of_source, _of_target, _shown, _pins)
