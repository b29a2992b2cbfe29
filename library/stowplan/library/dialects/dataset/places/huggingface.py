"""Repositories on a Hugging Face Hub as places of the native kinds."""

import re
from collections.abc import Iterator

from stowplan.library.dialects.dataset.places.place import PlaceSide, literals, secret_env, spot
from stowplan.library.dialects.reading import floating
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.ir.data import Remote
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.remotes.huggingface import HubPlace, HubSource, HubTarget, HuggingFaceEndpoint
from stowplan.schema.remotes.remote import option_env

_REPO_ENV, _REVISION, _TOKEN = option_env("repo"), option_env("revision"), option_env("token")
_PATH, _MESSAGE = option_env("path-in-repo"), option_env("commit-message")
_REPO = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?", re.ASCII)


def _remote(place: HubPlace, namespace: str) -> Remote:
    source = place if isinstance(place, HubSource) else None
    target = place if isinstance(place, HubTarget) else None
    given = {
        _REPO_ENV: place.repo,
        _REVISION: place.revision,
        _PATH: claim_paths.canonical((target and target.path) or ""),
        _MESSAGE: target.message if target else None,
    }
    return Remote(
        HuggingFaceEndpoint(
            repoEnv=_REPO_ENV,
            tokenEnv=_TOKEN if place.secret_ref else None,
            revisionEnv=_REVISION if place.revision else None,
            repoType=place.type,
            include=(source and source.include) or [],
            exclude=(source and source.exclude) or [],
            pathInRepoEnv=_PATH if given[_PATH] else None,
            commitMessageEnv=_MESSAGE if given[_MESSAGE] else None,
        ),
        (*secret_env(place.secret_ref, namespace, {"token": _TOKEN}), *literals(given)),
        keys=("token",) if place.secret_ref else (),
    )


def _findings(place: HubPlace, path: FieldPath) -> Iterator[Finding]:
    if not _REPO.fullmatch(place.repo) or ".." in place.repo:
        message = f"{place.repo!a} is not a repository: found neither `owner/name` nor `name`."
        yield finding("SP494", (*path, "repo"), message, "Write for example `google/gemma-2b`.")


def _of_target(target: HubTarget, path: FieldPath) -> list[Finding]:
    return claim_paths.sub_path(target.path, (*path, "path"), "repository") if target.path else []


def _shown(place: Json) -> str:
    revision = f"@{place['revision']}" if place.get("revision") else ""
    return f"hf://{place.get('type', 'dataset')}s/{place.get('repo', '')}{revision}"


def _pins(place: Json, path: FieldPath) -> Iterator[FloatingReference]:
    repository = floating.HUB, place.get("type", "dataset"), place.get("repo")
    return floating.of_hub(repository, place.get("revision"), spot(place, path, "revision"))


PLACE = PlaceSide(_remote, _findings, of_target=_of_target, shown=_shown, pins=_pins)
