"""Rules of claims that specs name, or describe by a template."""

from collections.abc import Iterator

from stowplan.library.manifest import Json
from stowplan.library.names import is_dns_subdomain
from stowplan.library.quantities import amount
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding

WRITABLE = frozenset({"ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"})
_COPIED = frozenset({"labels", "annotations"})


def name_findings(name: str, path: FieldPath) -> Iterator[Finding]:
    """A name that no claim can have."""
    if not is_dns_subdomain(name):
        message = f'"{name}" cannot be the name of a claim.'
        hint = "Use lower-case letters, digits, `-` and `.`, beginning and ending with a letter or digit."
        yield finding("SP210", path, message, hint)


def template_findings(template: Json, name: str, path: FieldPath, *, owner: str) -> Iterator[Finding]:
    """What is wrong with the template of a claim that data is written to; `owner` is what the spec is, in a word."""
    yield from _metadata(template.get("metadata") or {}, name, (*path, "metadata"), owner)
    yield from _spec(template.get("spec") or {}, (*path, "spec"))


def _metadata(given: Json, name: str, path: FieldPath, owner: str) -> Iterator[Finding]:
    for key in sorted(given.keys() - _COPIED):
        if key != "name" or given[key] != name:
            message = f"`{key}` has no effect: the claim is {name}, in the namespace of the {owner}."
            yield finding("SP406", (*path, key), message, "Remove it.", anchor=Anchor.KEY)


def _spec(spec: Json, path: FieldPath) -> Iterator[Finding]:
    modes = spec.get("accessModes") or []
    if not modes:
        message = "The claim has no access modes."
        yield finding("SP499", (*path, "accessModes"), message, "Give for example `accessModes: [ReadWriteMany]`.")
    elif not any(mode in modes for mode in WRITABLE):
        message = f"Nobody could write to a claim with {', '.join(map(str, modes))}."
        yield finding("SP499", (*path, "accessModes"), message, f"Use one of {', '.join(sorted(WRITABLE))}.")
    size = amount(((spec.get("resources") or {}).get("requests") or {}).get("storage"))
    if size is None or size <= 0:
        message = "The claim asks for no size."
        hint = "Give `resources.requests.storage`, such as `100Gi`."
        yield finding("SP499", (*path, "resources", "requests", "storage"), message, hint)
    if spec.get("volumeMode", "Filesystem") != "Filesystem":
        message = f"Found {spec['volumeMode']}; files need a file system."
        yield finding("SP499", (*path, "volumeMode"), message, "Remove it, or write Filesystem.")
