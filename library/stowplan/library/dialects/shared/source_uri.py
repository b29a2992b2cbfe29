"""The URI of remote storage: `NAME://BUCKET[.ENDPOINT][/PREFIX]`, as `juicefs sync` reads it."""

import re
from collections.abc import Mapping

from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.forms import BLANK
from stowplan.schema.juicefs.options import STORAGES

_CREDENTIALS = re.compile(r"://+[^/@:]*:(?!\d+/).*@|://+[^/:]+@", re.DOTALL)
"""A key and a secret, or a token, before the bucket. A secret may hold `/`, a host may have a port."""

_HUB = "Copy from a Hugging Face Hub by a DataCube of type huggingface, and set `noSync: true` here."
_GIT = "Copy from a Git repository by a DataCube of type git, and set `noSync: true` here."
_WEB = "Name the kind of storage in place of it, as in s3://bucket.s3.eu-west-1.amazonaws.com/train/."
_OF_SAMPLE_SETS = {
    "hf": _HUB,
    "huggingface": _HUB,
    "git": _GIT,
    "ssh": _GIT,
    "jfs": "Give the URI of the object storage, or set `noSync: true` if the data is in the volume already.",
    "file": "Copy from a storage that the network reaches, or set `noSync: true` and fill the volume by other means.",
}
"""What to do instead, by the scheme of a URI that names no storage, in the fields of a SampleSet."""

_ANYWHERE = {"http": _WEB, "https": _WEB}
"""The same, for schemes where it does not depend on the kind."""

_BLANK = re.compile(rf"[{BLANK}]")


def findings(uri: str, path: FieldPath, advice: Mapping[str, str] = _OF_SAMPLE_SETS) -> list[Finding]:
    """Return findings about the URI of a source: its form, storage and bucket (SP402), and credentials (SP603).

    `advice` is what to do in place of a URI with the scheme `hf`, `huggingface`, `git`, `ssh`, `jfs` or `file`.
    """
    storage, delimiter, rest = uri.partition("://")
    if not delimiter or "://" in rest:
        message = f'"{redacted(uri)}" is not of the form NAME://BUCKET[.ENDPOINT][/PREFIX].'
        return [finding("SP402", path, message, "Write for example s3://bucket.s3.eu-west-1.amazonaws.com/train/.")]
    if storage == "jfs":
        message = "`jfs://` names a JuiceFS volume; a dataset is copied from an object storage into its volume."
        return [finding("SP402", path, message, advice["jfs"])]
    if storage not in STORAGES:
        message = f'"{storage}" is not a storage that JuiceFS can copy from.'
        return [
            finding("SP402", path, message, {**_ANYWHERE, **advice}.get(storage) or did_you_mean(storage, STORAGES))
        ]
    if _CREDENTIALS.search(uri):
        message = "The URI carries credentials; what is committed to Git is no secret any more."
        hint = "Put them into the Secret as `access-key` and `secret-key`, remove them here, and revoke them."
        return [finding("SP603", path, message, hint)]
    if storage == "file":
        message = "`file://` names files of the task's own pod: there is no data in it, but there are its secrets."
        return [finding("SP402", path, message, advice["file"])]
    return [*_bucket(rest, path), *_blanks(uri, path)]


def carries_credentials(text: str) -> bool:
    """Return whether a string holds an address with a literal key, password or token.

    References to variables, `$(NAME)`, do not count.
    """
    return "@" in text and any("$(" not in match[0] for match in _CREDENTIALS.finditer(text))


def has_blanks(uri: str) -> bool:
    """Return whether an address holds a blank or a control character, which none may hold."""
    return bool(_BLANK.search(uri))


def redacted(uri: str) -> str:
    """Return the URI with `***` for anything that could be a credential, for messages."""
    return _CREDENTIALS.sub("://***@", uri)


def _bucket(rest: str, path: FieldPath) -> list[Finding]:
    if rest.strip("/"):
        return []
    return [finding("SP402", path, "The URI names no bucket.", "Write NAME://BUCKET[.ENDPOINT][/PREFIX].")]


def _blanks(uri: str, path: FieldPath) -> list[Finding]:
    if not has_blanks(uri):
        return []
    message = "The URI holds a blank or control character."
    return [finding("SP402", path, message, "Percent-encode it, or remove the newline at the end.")]
