"""S3 stores as places of the native kinds."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.places.place import PlaceSide, literals, secret_env
from stowplan.library.dialects.reading import floating
from stowplan.library.dialects.shared import source_uri
from stowplan.library.ir.data import Remote
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.remotes.remote import option_env
from stowplan.schema.remotes.s3 import S3Endpoint, S3Place, S3Source
from stowplan.schema.s3_uri import S3Uri

_KEYS = {
    "access-key": option_env("s3-access-key-id"),
    "secret-key": option_env("s3-secret-access-key"),
    "session-token": option_env("s3-session-token"),
}
"""Environment variables by key of the Secret."""


def _remote(place: S3Place, namespace: str) -> Remote:
    keys = _KEYS if place.secret_ref else {}
    given = {option_env("s3-endpoint"): (place.endpoint or "").rstrip("/"), option_env("s3-region"): place.region}
    endpoint, region = given
    source = place if isinstance(place, S3Source) else None
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
            revision=(source and source.revision) or "",
            acceptUnverified=bool(source and source.accept_unverified),
            include=(source and source.include) or [],
            exclude=(source and source.exclude) or [],
        ),
        (*secret_env(place.secret_ref, namespace, keys, optional=("session-token",)), *literals(given)),
        keys=("access-key", "secret-key") if keys else (),
    )


def _findings(place: S3Place, path: FieldPath) -> Iterator[Finding]:
    uri = S3Uri.parse(place.uri)
    if uri is None or "@" in uri.bucket or source_uri.carries_credentials(place.uri):
        message = "The URI carries credentials; what is committed to Git is no secret any more."
        hint = "Put them into the Secret of `secretRef`, remove them here, and revoke them."
        yield finding("SP603", (*path, "uri"), message, hint)
    elif ":" in uri.bucket and not (place.endpoint and place.path_style is not False):
        message = f'"{uri.bucket}" is the bucket of a tenant, which only a path can hold, and not the name of a host.'
        hint = "Give the `endpoint` of the store, without `pathStyle: false`."
        yield finding("SP494", (*path, "uri"), message, hint)


def _of_source(source: S3Source, path: FieldPath) -> Iterator[Finding]:
    if source.anonymous and source.secret_ref:
        message = "With `anonymous: true` no credentials are sent, and `secretRef` names some."
        yield finding("SP461", (*path, "anonymous"), message, "Remove one of the two.", anchor=Anchor.KEY)
    elif not source.anonymous and not source.secret_ref:
        message = "An S3 store needs credentials, and roles of pods and nodes are not used."
        hint = "Name a Secret as `secretRef`, or write `anonymous: true` for a public bucket."
        yield finding("SP461", path, message, hint, anchor=Anchor.KEY)


def _shown(place: Json) -> str:
    return str(place.get("uri", ""))


PLACE = PlaceSide(_remote, _findings, _of_source, shown=_shown, pins=floating.of_s3)
