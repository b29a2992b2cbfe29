"""Rules of a DataCube's remote side: its address, its settings, and its token."""

import re
from collections.abc import Iterator

from stowplan.library.dialects.data_cube import options
from stowplan.library.dialects.data_cube.cube import Cube
from stowplan.library.dialects.data_cube.git_url import GitUrl, Unusable
from stowplan.library.dialects.data_cube.options import Side
from stowplan.library.dialects.data_cube.variable_references import references
from stowplan.library.dialects.shared.source_uri import carries_credentials
from stowplan.schema.agents.transfer_config import option_env
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, Severity, finding

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_CONTROL = re.compile(r"[\x00-\x1f]")


def findings(cube: Cube) -> list[Finding]:
    """Return all findings about the remote side, except those about single options."""
    return [*_address(cube), *_s3(cube), *_one_sided(cube), *_without_token(cube)]


def _address(cube: Cube) -> Iterator[Finding]:
    """Yield findings about literal addresses: the Git URL, the S3 URI, and the S3 endpoint."""
    reference, base = cube.remote, cube.remote_path
    if reference.type == "git" and cube.git:
        path = options.path_of(reference, "url", base)
        if isinstance(cube.git, Unusable):
            yield finding("SP603" if cube.git.secret else "SP495", path, cube.git.message, cube.git.hint)
        elif option_env("token") in references(cube.git.url):
            message = "The token is part of the address, which Git writes into the repository's configuration."
            hint = "Remove it there; the agent authenticates with the option `token`."
            yield finding("SP495", path, message, hint)
    if reference.type == "s3" and (uri := options.literal(reference, "s3-uri")):
        yield from _s3_uri(cube, uri, options.path_of(reference, "s3-uri", base))
    if endpoint := options.literal(reference, "s3-endpoint"):
        yield from _endpoint(endpoint, options.path_of(reference, "s3-endpoint", base))


def _s3_uri(cube: Cube, uri: str, path: FieldPath) -> Iterator[Finding]:
    if carries_credentials(uri):
        message = "The URI carries credentials; what is committed to Git is no secret any more."
        hint = "Give them as options from a Secret, remove them here, and revoke them."
        yield finding("SP603", path, message, hint)
    elif cube.s3 is None:
        message = f'"{uri}" is not of the form s3://BUCKET[/KEY].'
        yield finding("SP494", path, message, "Write for example s3://models/llama/.")
    elif not _BUCKET.fullmatch(cube.s3.bucket):
        bucket = cube.s3.bucket
        message = f'"{bucket}" cannot be the name of a bucket.' if bucket else "The URI names no bucket."
        hint = "Use 3 to 63 lower-case letters, digits, `.` and `-`; the endpoint is the option `s3-endpoint`."
        yield finding("SP494", path, message, hint)
    elif _CONTROL.search(cube.s3.key) or {".", ".."} & set(cube.s3.key.split("/")):
        message = "The key holds a control character, or a part `.` or `..`, which no path of a file can hold."
        yield finding("SP494", path, message, "Name another prefix.")


def _endpoint(endpoint: str, path: FieldPath) -> Iterator[Finding]:
    if "@" in endpoint:
        message = "The endpoint carries credentials; what is committed to Git is no secret any more."
        hint = "Give them as `s3-access-key-id` and `s3-secret-access-key` from a Secret."
        yield finding("SP603", path, message, hint)
    elif "$" not in endpoint and ("://" in endpoint and not endpoint.startswith(("http://", "https://"))):
        message = f'"{endpoint}" is neither an http nor an https URL.'
        yield finding("SP494", path, message, "Write for example https://minio.example.com.")


def _s3(cube: Cube) -> Iterator[Finding]:
    settings = cube.remote.s3
    if cube.remote.type != "s3" or settings is None:
        return
    if settings.kind == "file" and cube.s3 and cube.s3.is_prefix:
        message = f'"{options.literal(cube.remote, "s3-uri")}" is a prefix or a bucket, and cannot be one file.'
        yield finding("SP494", (*cube.remote_path, "s3", "kind"), message, "Name the object, or remove `kind`.")


def _one_sided(cube: Cube) -> Iterator[Finding]:
    """Yield findings about settings that have no effect, since the remote side is not the source or not the sink."""
    for block, field, key, acts in _ONE_SIDED:
        settings = getattr(cube.remote, block)
        if block == cube.remote.type and cube.side != acts and settings and getattr(settings, field) is not None:
            message = f"`{key}` has no effect on a {cube.side}."
            yield finding("SP406", (*cube.remote_path, block, key), message, "Remove it.", anchor=Anchor.KEY)


_ONE_SIDED: tuple[tuple[str, str, str, Side], ...] = (
    ("s3", "create_bucket", "createBucket", "sink"),
    ("s3", "verify_parts", "verifyParts", "source"),
    ("git", "depth", "depth", "source"),
    ("git", "submodules", "submodules", "source"),
)
"""Block, field, key in the document, and the side on which the field has an effect."""


def _without_token(cube: Cube) -> Iterator[Finding]:
    """Yield a finding about an upload without a token. A server refuses the upload unless everybody may write."""
    kind = cube.remote.type
    if not cube.uploads or kind == "s3" or options.certain(cube.remote, "token"):
        return
    if (isinstance(cube.git, GitUrl) and cube.git.token_env) or (kind == "git" and not cube.git):
        return
    if kind == "git" or all(each.get("name") != "HF_TOKEN" for each in cube.executor.env or ()):
        message = "The upload has no token, so only a server that lets anybody write would take it."
        hint = "Add the option `token`, from a Secret."
        yield finding("SP494", (*cube.remote_path, "options"), message, hint, severity=Severity.WARNING)
