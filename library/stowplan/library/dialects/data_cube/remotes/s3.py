"""S3 stores as a side of a DataCube."""

import re
from collections.abc import Iterator

from stowplan.library.dialects.data_cube import options
from stowplan.library.dialects.data_cube.options import Option
from stowplan.library.dialects.data_cube.remotes.flags import (
    IGNORED,
    NOISE,
    NOTHING,
    SHORT,
    Flag,
    number,
    positive,
    truth,
    word,
)
from stowplan.library.dialects.data_cube.remotes.remote import Remote
from stowplan.library.dialects.data_cube.remotes.remote_side import RemoteSide
from stowplan.library.dialects.shared.source_uri import carries_credentials, has_blanks
from stowplan.schema.diagnostics import FieldPath, Finding, finding, without_effect
from stowplan.schema.remotes.s3 import S3Endpoint, S3Settings
from stowplan.schema.s3_uri import S3Uri

LEAST_PART = 5
"""Smallest size of a part of an upload in MiB; S3 refuses smaller parts."""

_BUCKET = re.compile(r"([A-Za-z0-9_]+:)?[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
"""With Ceph, the tenant of a bucket may come first."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_MEBIBYTES = {"b": 1 / 1024**2, "k": 1 / 1024, "m": 1, "g": 1024}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(b|[kmg](?:i?b)?)?", re.IGNORECASE)

_OPTIONS = {
    "s3-endpoint": Option(),
    "s3-region": Option(),
    "s3-access-key-id": Option(),
    "s3-secret-access-key": Option(secret=True),
    "s3-session-token": Option(secret=True),
    "s3-uri": Option(required=True, literal=True),
    "s3-no-check-bucket": Option("sink"),
}
"""The old system had all of them except `s3-region` and `s3-session-token`."""


def _size(text: str) -> int | None:
    """Return a size in rclone's form in MiB, at least `LEAST_PART`; None if it does not have this form.

    `B` is bytes, and a number without a unit is in KiB. https://rclone.org/docs/#size-options
    """
    found = _SIZE.fullmatch(text)
    if not found:
        return None
    unit = (found[2] or "k")[0].lower()
    return max(LEAST_PART, round(float(found[1]) * _MEBIBYTES[unit]))


_FLAGS = {
    "--transfers": Flag("parallelism", read=positive, instead="`executor.options.parallelism`"),
    "--s3-chunk-size": Flag("part_size_mib", read=_size, instead="`executor.options.partSize`"),
    "--low-level-retries": Flag("request_retries", read=number, instead="`executor.options.requestRetries`"),
    "--max-delete": Flag("max_delete", read=number, instead="`executor.options.maxDelete`"),
    "--s3-region": Flag("s3-region", instead="the option `s3-region`"),
    "--s3-force-path-style": Flag("path_style", takes=0, read=truth, instead="`s3.pathStyle`"),
    "--s3-no-check-bucket": Flag("s3-no-check-bucket", takes=0, read=word, instead="that option"),
    "--checkers": IGNORED,
    "--buffer-size": IGNORED,
    "--multi-thread-streams": IGNORED,
    "--multi-thread-cutoff": IGNORED,
    "--s3-upload-concurrency": IGNORED,
    "--s3-upload-cutoff": IGNORED,
    "--retries": IGNORED,
    "--stats": IGNORED,
    "--log-level": IGNORED,
    "--fast-list": NOTHING,
    "--stats-one-line": NOTHING,
    **NOISE,
}

_PATTERNS = "Write patterns as `s3.include` and `s3.exclude`."
_REFUSED = {
    "--bwlimit": "Write bytes per second as `executor.options.maxBytesPerSecond`.",
    **dict.fromkeys(("--include", "--include-from", "--exclude", "--exclude-from"), _PATTERNS),
    **dict.fromkeys(("--filter", "--filter-from", "--files-from", "-f"), _PATTERNS),
    "--s3-access-key-id": "Give it as the option `s3-access-key-id`.",
    "--s3-secret-access-key": "Give it as the option `s3-secret-access-key`, from a Secret.",
    "--s3-endpoint": "Give it as the option `s3-endpoint`.",
}


def _endpoint(remote: RemoteSide) -> S3Endpoint:
    settings = remote.block(S3Settings)
    anonymous = bool(settings.anonymous)
    return S3Endpoint.model_validate(
        {
            "accessKeyIdEnv": None if anonymous else remote.env("s3-access-key-id"),
            "secretAccessKeyEnv": None if anonymous else remote.env("s3-secret-access-key"),
            "sessionTokenEnv": None if anonymous else remote.env("s3-session-token"),
            "uri": remote.literal("s3-uri"),
            "kind": settings.kind or "auto",
            "endpointEnv": remote.env("s3-endpoint"),
            "regionEnv": remote.env("s3-region"),
            "pathStyle": remote.setting("path_style"),
            "anonymous": anonymous,
            "noCheckBucketEnv": remote.env("s3-no-check-bucket"),
            "createBucket": bool(settings.create_bucket),
            "verifyParts": bool(settings.verify_parts),
            "acceptUnverified": bool(settings.accept_unverified),
            "include": settings.include or [],
            "exclude": settings.exclude or [],
        }
    )


def _findings(remote: RemoteSide) -> Iterator[Finding]:
    yield from _keys(remote)
    yield from _flag(remote)
    if uri := remote.literal("s3-uri"):
        yield from _uri(uri, remote.path_of("s3-uri"))
        yield from _kind(remote, uri)
    if endpoint := remote.literal("s3-endpoint"):
        yield from _store(endpoint, remote.path_of("s3-endpoint"))


def _keys(remote: RemoteSide) -> Iterator[Finding]:
    keys = ("s3-access-key-id", "s3-secret-access-key")
    reference = remote.reference
    anonymous = bool(remote.block(S3Settings).anonymous)
    for name in (*keys, "s3-session-token"):
        if anonymous and options.given(reference, name):
            message = f"`{name}` is not used, since `s3.anonymous` is true."
            hint = "Remove one of the two."
            yield finding("SP406", remote.path_of(name)[:-1], message, hint)
        elif not anonymous and name in keys and not options.certain(reference, name):
            hint = f"Add `name: {name}` with a key of a Secret, or set `s3.anonymous: true` for a public bucket."
            yield options.needed(reference, name, remote.path, hint)


def _flag(remote: RemoteSide) -> Iterator[Finding]:
    value = remote.literal("s3-no-check-bucket")
    if value and value not in ("true", "false") and "$" not in value:
        path = remote.path_of("s3-no-check-bucket")
        yield finding("SP494", path, f'"{value}" is neither true nor false.', 'Write "true", with quotes.')


def _uri(uri: str, path: FieldPath) -> Iterator[Finding]:
    if carries_credentials(uri):
        message = "The URI carries credentials; what is committed to Git is no secret any more."
        hint = "Give them as options from a Secret, remove them here, and revoke them."
        yield finding("SP603", path, message, hint)
    elif (parsed := S3Uri.parse(uri)) is None:
        message = f'"{uri}" is not of the form s3://BUCKET[/KEY].'
        yield finding("SP494", path, message, "Write for example s3://models/llama/.")
    elif not _BUCKET.fullmatch(parsed.bucket):
        bucket = parsed.bucket
        message = f'"{bucket}" cannot be the name of a bucket.' if bucket else "The URI names no bucket."
        hint = "Use 3 to 63 lower-case letters, digits, `.` and `-`; the endpoint is the option `s3-endpoint`."
        yield finding("SP494", path, message, hint)
    elif _CONTROL.search(parsed.key) or {".", ".."} & set(parsed.key.split("/")):
        message = "The key holds a control character, or a part `.` or `..`, which no path of a file can hold."
        yield finding("SP494", path, message, "Name another prefix.")


def _kind(remote: RemoteSide, uri: str) -> Iterator[Finding]:
    parsed, settings = S3Uri.parse(uri), remote.block(S3Settings)
    for key, patterns in (("include", settings.include), ("exclude", settings.exclude)):
        if settings.kind == "file" and patterns:
            message = f"`{key}` has no effect on a single file."
            yield without_effect((*remote.path, "s3", key), message, "Remove it, or `kind`.")
    if settings.kind == "file" and parsed and parsed.is_prefix:
        message = f'"{uri}" is a prefix or a bucket, and cannot be one file.'
        yield finding("SP494", (*remote.path, "s3", "kind"), message, "Name the object, or remove `kind`.")


def _store(endpoint: str, path: FieldPath) -> Iterator[Finding]:
    if "@" in endpoint:
        message = "The endpoint carries credentials; what is committed to Git is no secret any more."
        hint = "Give them as `s3-access-key-id` and `s3-secret-access-key` from a Secret."
        yield finding("SP603", path, message, hint)
    elif "$" not in endpoint and ("://" in endpoint and not endpoint.startswith(("http://", "https://"))):
        message = f'"{endpoint}" is neither an http nor an https URL.'
        yield finding("SP494", path, message, "Write for example https://minio.example.com.")
    elif has_blanks(endpoint):
        message = "The endpoint holds a blank or control character."
        yield finding("SP494", path, message, "Write for example https://minio.example.com.")


def _mirror(remote: RemoteSide) -> tuple[str, str] | None:
    if remote.block(S3Settings).kind == "file":
        return "`sync` would delete everything but the one file that is copied.", "Remove it, or name a prefix."
    return None


def _defaults(remote: RemoteSide) -> Iterator[Finding]:
    if remote.uploads and remote.block(S3Settings).create_bucket is None:
        message = "The bucket must be there: the transfer does not create it."
        yield finding("SP411", (*remote.path, "type"), message, "Set `s3.createBucket: true` to have it made.")


REMOTE = Remote(
    _endpoint,
    _OPTIONS,
    settings=("path_style",),
    one_sided={"accept_unverified": "source", "create_bucket": "sink", "verify_parts": "source"},
    tool="rclone",
    flags=_FLAGS,
    short=SHORT,
    refused=_REFUSED,
    findings=_findings,
    defaults=_defaults,
    mirror=_mirror,
)
