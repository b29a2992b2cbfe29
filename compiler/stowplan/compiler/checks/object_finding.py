"""A finding about one object of the output."""

from dataclasses import dataclass

from stowplan.compiler.checks.manifests import identity
from stowplan.compiler.model import Output
from stowplan.schema.diagnostics import FieldPath, Finding, Severity, finding
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class ObjectFinding:
    """What is wrong with an object, or with its absence.

    `found.path` is a path inside the object. `spec` is the spec that it was compiled from, or None; `source` the file
    that its header names, empty where there is none.
    """

    object: ObjectId
    found: Finding
    spec: SpecId | None = None
    source: str = ""


def about(
    output: Output, code: str, path: FieldPath, message: str, hint: str, *, severity: Severity | None = None
) -> ObjectFinding:
    """A finding about an object of the output, with the catalogue's severity unless one is given."""
    found = finding(code, path, message, hint, severity=severity)
    return ObjectFinding(identity(output.manifest.body), found, output.spec, output.source)
