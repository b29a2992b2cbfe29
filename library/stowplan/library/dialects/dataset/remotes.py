"""The places of native kinds, as remote sides of a transfer."""

from collections.abc import Sequence

from stowplan.library.builders.pods import agent_pod
from stowplan.library.ir.data import Remote, SecretName
from stowplan.library.manifest import Json
from stowplan.schema.kinds.native.places import (
    GitCheckout,
    GitPlace,
    HubPlace,
    HubSource,
    LocalSecret,
    S3Place,
    S3Source,
)
from stowplan.schema.remotes.git import GitEndpoint
from stowplan.schema.remotes.huggingface import HuggingFaceEndpoint
from stowplan.schema.remotes.remote import option_env
from stowplan.schema.remotes.s3 import S3Endpoint

Place = GitPlace | HubPlace | S3Place
"""A place that the transfer agent copies from or to."""

_S3_KEYS = {
    "access-key": option_env("s3-access-key-id"),
    "secret-key": option_env("s3-secret-access-key"),
    "session-token": option_env("s3-session-token"),
}
_TOKEN, _USERNAME = option_env("token"), option_env("username")
_TOKEN_KEY = {"token": _TOKEN}
"""Environment variables by key of the Secret."""


def secret_of(place: Place, namespace: str) -> SecretName:
    """Return the Secret of a place, in the namespace of the spec; with an empty name if it has none."""
    return SecretName(namespace, place.secret_ref.name if place.secret_ref else "")


def address(place: Place) -> str:
    """Return what identifies the data at a place: an URI with the branch or commit, without credentials."""
    if isinstance(place, S3Place):
        return f"{place.uri}@{place.endpoint}" if place.endpoint else place.uri
    if isinstance(place, HubPlace):
        return f"hf://{place.type}s/{place.repo}@{place.revision or ''}"
    return f"{place.url}@{place.ref or ''}"


def remote_of(place: Place, namespace: str) -> Remote:
    """Return a place as the remote side of a transfer in `namespace`, the namespace of the spec and of its Secret."""
    if isinstance(place, S3Place):
        return _s3(place, namespace)
    return _hub(place, namespace) if isinstance(place, HubPlace) else _git(place, namespace)


def _s3(place: S3Place, namespace: str) -> Remote:
    keys = _S3_KEYS if place.secret_ref else {}
    given = {option_env("s3-endpoint"): (place.endpoint or "").rstrip("/"), option_env("s3-region"): place.region}
    endpoint, region = given
    include, exclude = (place.include, place.exclude) if isinstance(place, S3Source) else (None, None)
    return Remote(
        S3Endpoint(
            uri=place.uri,
            kind="prefix",
            endpointEnv=endpoint if place.endpoint else None,
            regionEnv=region if place.region else None,
            pathStyle=place.path_style,
            accessKeyIdEnv=keys.get("access-key"),
            secretAccessKeyEnv=keys.get("secret-key"),
            sessionTokenEnv=keys.get("session-token"),
            anonymous=not keys,
            revision=(place.revision or "") if isinstance(place, S3Source) else "",
            acceptUnverified=bool(place.accept_unverified) if isinstance(place, S3Source) else False,
            include=include or [],
            exclude=exclude or [],
        ),
        (*_secret_env(place.secret_ref, namespace, keys, optional=("session-token",)), *literals(given)),
        keys=("access-key", "secret-key") if keys else (),
    )


def _hub(place: HubPlace, namespace: str) -> Remote:
    repo, revision = option_env("repo"), option_env("revision")
    include, exclude = (place.include, place.exclude) if isinstance(place, HubSource) else (None, None)
    return Remote(
        HuggingFaceEndpoint(
            repoEnv=repo,
            tokenEnv=_TOKEN if place.secret_ref else None,
            revisionEnv=revision if place.revision else None,
            repoType=place.type,
            include=include or [],
            exclude=exclude or [],
        ),
        (
            *_secret_env(place.secret_ref, namespace, _TOKEN_KEY),
            *literals({repo: place.repo, revision: place.revision}),
        ),
        keys=("token",) if place.secret_ref else (),
    )


def _git(place: GitPlace, namespace: str) -> Remote:
    url, ref = option_env("url"), option_env("ref")
    keys = {**_TOKEN_KEY, "username": _USERNAME}
    return Remote(
        GitEndpoint(
            urlEnv=url,
            tokenEnv=_TOKEN if place.secret_ref else None,
            usernameEnv=_USERNAME if place.secret_ref else None,
            refEnv=ref if place.ref else None,
            lfs=place.lfs is not False,
            # Jobs read the files of one commit. Its history is neither data nor code.
            depth=1 if isinstance(place, GitCheckout) else None,
            submodules=isinstance(place, GitCheckout) and place.submodules is True,
        ),
        (
            *_secret_env(place.secret_ref, namespace, keys, optional=("username",)),
            *literals({url: place.url, ref: place.ref}),
        ),
        agent="git",
        keys=("token",) if place.secret_ref else (),
    )


def _secret_env(
    reference: LocalSecret | None, namespace: str, variables: dict[str, str], *, optional: Sequence[str] = ()
) -> tuple[Json, ...]:
    """Return the variables from a place's Secret, in the namespace of its spec; none without a Secret."""
    if reference is None:
        return ()
    return agent_pod.secret_env(SecretName(namespace, reference.name), variables, optional=optional)


def literals(values: dict[str, str | None]) -> tuple[Json, ...]:
    """Return variables with literal values, without the empty ones. `$` is escaped: Kubernetes expands `$(NAME)`."""
    return tuple({"name": name, "value": value.replace("$(", "$$(")} for name, value in values.items() if value)
