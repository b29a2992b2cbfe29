"""A finding about one object of the output."""

from dataclasses import dataclass

from stowplan.compiler.checks.objects import Object
from stowplan.schema.diagnostics import FieldPath, Finding, Severity, finding
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class ObjectFinding:
    """What is wrong with an object, or with its absence.

    `found.path` is a path inside the object. `spec` is the spec that it was compiled from, or None.
    """

    object: ObjectId
    found: Finding
    spec: SpecId | None = None


def about(
    obj: Object, code: str, path: FieldPath, message: str, hint: str, *, severity: Severity | None = None
) -> ObjectFinding:
    """A finding about an object of the output, with the catalogue's severity unless one is given."""
    return ObjectFinding(obj.id, finding(code, path, message, hint, severity=severity), obj.output.spec)


def milder(obj: Object) -> Severity | None:
    """A warning for what a user or an extension brought and may have meant; else the catalogue's severity."""
    return None if obj.authored else Severity.WARNING
