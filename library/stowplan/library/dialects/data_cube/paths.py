"""Paths in a DataCube's claim, and S3 URIs."""

import re

from stowplan.library.dialects.shared.source_uri import carries_credentials
from stowplan.schema.agents.marker import STATE_DIRECTORY, holds_state
from stowplan.schema.diagnostics import FieldPath, Finding, finding

LONGEST = 4096
"""Bytes of a path on Linux."""

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_OF_KEYS = re.compile(r"[\x00-\x1f]")


def canonical(path: str) -> str:
    """The path without what means nothing in it: `.`, empty parts and a `/` at the end; empty for the root."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def sub_path(path: str, at: FieldPath) -> list[Finding]:
    """What is wrong with a `subPath`."""
    problem = _problem(path)
    return [finding("SP405", at, *problem)] if problem else []


def _problem(path: str) -> tuple[str, str] | None:
    """Message and hint of the first thing that is wrong."""
    length = len(path.encode())
    rules = (
        (_CONTROL.search(path), "The path holds a control character.", "Remove it."),
        (length > LONGEST, f"The path has {length} bytes; at most {LONGEST} are allowed.", "Shorten it."),
        (path.startswith("/"), f'"{path}" begins with `/`; it is a path in the claim.', "Remove the `/`."),
        (".." in path.split("/"), f'"{path}" could leave the claim.', "Remove the `..`."),
        ("$(" in path, f'"{path}" holds a reference to a variable, and a path has none.', "Write it out."),
        (
            holds_state(path),
            f'"{path}" holds `{STATE_DIRECTORY}`, where the agents keep their own state.',
            "Choose another directory.",
        ),
    )
    return next(((message, hint) for broken, message, hint in rules if broken), None)


def s3_uri(uri: str, at: FieldPath) -> list[Finding]:
    """What is wrong with an S3 URI."""
    if carries_credentials(uri):
        message = "The URI carries credentials; what is committed to Git is no secret any more."
        hint = "Give them as options from a Secret, remove them here, and revoke them."
        return [finding("SP603", at, message, hint)]
    scheme, separator, rest = uri.partition("://")
    if scheme != "s3" or not separator:
        message = f'"{uri}" is not of the form s3://BUCKET[/KEY].'
        return [finding("SP494", at, message, "Write for example s3://models/llama/.")]
    bucket, _, key = rest.partition("/")
    if not _BUCKET.fullmatch(bucket):
        message = f'"{bucket}" cannot be the name of a bucket.' if bucket else "The URI names no bucket."
        hint = "Use 3 to 63 lower-case letters, digits, `.` and `-`; the endpoint is the option `s3-endpoint`."
        return [finding("SP494", at, message, hint)]
    if _CONTROL_OF_KEYS.search(key) or {".", ".."} & set(key.split("/")):
        message = "The key holds a control character, or a part `.` or `..`, which no path of a file can hold."
        return [finding("SP494", at, message, "Name another prefix.")]
    return []
