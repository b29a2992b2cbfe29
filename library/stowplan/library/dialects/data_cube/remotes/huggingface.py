"""Repositories on a Hugging Face Hub as a side of a DataCube."""

import re
from collections.abc import Iterator

from stowplan.library.dialects.data_cube import options
from stowplan.library.dialects.data_cube.options import Option
from stowplan.library.dialects.data_cube.remotes.flags import IGNORED, NOTHING, Flag, positive
from stowplan.library.dialects.data_cube.remotes.remote import Remote
from stowplan.library.dialects.data_cube.remotes.remote_side import RemoteSide
from stowplan.library.values.variable_references import references
from stowplan.schema.diagnostics import Finding, did_you_mean, finding
from stowplan.schema.file_names import problem
from stowplan.schema.kinds.data_cube import DataReference
from stowplan.schema.remotes.huggingface import HuggingFaceEndpoint, HuggingFaceSettings
from stowplan.schema.remotes.remote import option_env

_REPO_TYPES = ("model", "dataset", "space")
_REPO = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?", re.ASCII)

_OPTIONS = {
    "token": Option(secret=True),
    "repo": Option(required=True),
    "repo-type": Option(literal=True),
    "revision": Option(),
    "files": Option("source", literal=True),
    "path-in-repo": Option("sink"),
    "commit-message": Option("sink"),
}
"""The old system had all of them except `repo-type` and `revision`."""


def _repo_type(text: str) -> str | None:
    return text if text in _REPO_TYPES else None


_FLAGS = {
    "--repo-type": Flag("repo-type", read=_repo_type, instead="the option `repo-type`"),
    "--revision": Flag("revision", instead="the option `revision`"),
    "--include": Flag("include", takes=-1, instead="`huggingface.include`"),
    "--exclude": Flag("exclude", takes=-1, instead="`huggingface.exclude`"),
    "--max-workers": Flag("parallelism", read=positive, instead="`executor.options.parallelism`"),
    "--commit-message": Flag("commit-message", instead="the option `commit-message`"),
    "--cache-dir": IGNORED,
    "--local-dir-use-symlinks": IGNORED,
    "--resume-download": NOTHING,
    "--force-download": NOTHING,
    "--quiet": NOTHING,
}

_REFUSED = {
    "--token": "Give it as the option `token`, from a Secret.",
    "--local-dir": "The place in the claim is `pvc.subPath`.",
    "--delete": "Files that were uploaded are not removed; do that on the Hub.",
}


def _endpoint(remote: RemoteSide) -> HuggingFaceEndpoint:
    settings = remote.block(HuggingFaceSettings)
    kind = remote.literal("repo-type") or remote.arguments.settings.get("repo-type") or "model"
    return HuggingFaceEndpoint.model_validate(
        {
            "repoEnv": option_env("repo"),
            "tokenEnv": remote.env("token"),
            "revisionEnv": remote.env("revision"),
            "repoType": kind,
            "files": [] if remote.uploads else _files(remote.reference),
            "include": remote.setting("include") or [],
            "exclude": remote.setting("exclude") or [],
            "pathInRepoEnv": remote.env("path-in-repo"),
            "commitMessageEnv": remote.env("commit-message"),
            "hosts": settings.hosts or [],
        }
    )


def _files(reference: DataReference) -> list[str]:
    """Return the names in the option `files`, which are separated by commas; an empty list without the option."""
    text = options.literal(reference, "files")
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _findings(remote: RemoteSide) -> Iterator[Finding]:
    yield from _values(remote)
    if remote.uploads and not options.certain(remote.reference, "token") and "HF_TOKEN" not in remote.environment:
        yield options.without_token(remote.path)


def _values(remote: RemoteSide) -> Iterator[Finding]:
    repo, kind = remote.literal("repo"), remote.literal("repo-type")
    if repo and "$" not in repo and not _REPO.fullmatch(repo):
        message = f'"{repo}" is not a repository: found neither `owner/name` nor `name`.'
        yield finding("SP494", remote.path_of("repo"), message, "Write for example `google/gemma-2b`.")
    if kind and kind not in _REPO_TYPES and not references(kind):
        path = remote.path_of("repo-type")
        yield finding("SP494", path, f'"{kind}" is not a type of repository.', did_you_mean(kind, _REPO_TYPES))
    path = remote.path_of("files")
    for name in _files(remote.reference):
        if not name:
            yield finding("SP494", path, "The list of files has an empty element.", "Remove the comma too many.")
        elif why := problem(name):
            yield finding("SP494", path, f"{name!a} {why}.", "Write paths of files, from the root of the repository.")


REMOTE = Remote(
    _endpoint,
    _OPTIONS,
    settings=("include", "exclude"),
    tool="huggingface-cli",
    flags=_FLAGS,
    refused=_REFUSED,
    findings=_findings,
)
