"""Sources that `juicefs sync` reads, for the drivers of all volumes."""

from stowplan.library.ir.data import Source
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.juicefs.option_forms import SYNC_FORMS
from stowplan.schema.juicefs.options import STORAGES
from stowplan.schema.juicefs.sync_keys import KEY_VARIABLES


def findings(source: Source | None, path: FieldPath) -> list[Finding]:
    """Return findings about the credentials and the characters of a source at `path`; an empty list without one."""
    return [*_keys(source, path), *_address(source, path)] if source else []


def _keys(source: Source, path: FieldPath) -> list[Finding]:
    """Return a finding if the source has a Secret, but JuiceFS accepts credentials only in the URI of such a source.

    The agent refuses credentials for this source.
    """
    storage = source.uri.partition("://")[0]
    if not source.secret.name or storage in KEY_VARIABLES or storage not in STORAGES - {"file"}:
        return []
    message = (
        f"JuiceFS takes the keys of {storage}:// in the address alone, where others can read them; "
        f"if Secret {source.secret.name} has any, the sync is refused (exit code 2)."
    )
    others = ", ".join(sorted(KEY_VARIABLES))
    hint = f"Name a Secret without `access-key` and `secret-key`, or use one of {others} if the storage speaks it."
    return [finding("SP419", path, message, hint)]


def _address(source: Source, path: FieldPath) -> list[Finding]:
    """Return a finding about forbidden characters in a source's URI.

    The message does not show the URI, which may hold a secret.
    """
    form = SYNC_FORMS["source"]
    # `source_uri.findings` reports blanks and control characters.
    refused = [each for each in sorted(set(source.uri)) if not form.fits(each)]
    if not refused or any(each.isspace() or each < " " for each in refused):
        return []
    message = f"The URI holds {' '.join(map(ascii, refused))}; allowed is {form.words}."
    return [finding("SP402", path, message, "Percent-encode it: JuiceFS decodes the path of the URI.")]
