"""A finding about one object of the output."""

from dataclasses import dataclass
from typing import Protocol

from stowplan.compiler.kubernetes.schema_problem import SchemaProblem
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, Severity, finding
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class ObjectFinding:
    """A finding about an object of the output, or about a missing object.

    `found.path` is a path inside the object. `spec` is the spec that the object was compiled from, or None. `source`
    is the user's file, empty if it is not known. `edits` are fields of the spec that caused the finding; the user sees
    the first of them, or the name of the spec if there are none.
    """

    object: ObjectId
    found: Finding
    spec: SpecId | None = None
    source: str = ""
    edits: tuple[FieldPath, ...] = ()


class OutputObject(Protocol):
    """An object of the output or its summary.

    `spec` is the spec that it was compiled from, or None. `source` is the user's file, or empty. `authored` is True for
    objects that Stowplan writes, False for those of users and extensions.
    """

    @property
    def id(self) -> ObjectId: ...
    @property
    def spec(self) -> SpecId | None: ...
    @property
    def source(self) -> str: ...
    @property
    def authored(self) -> bool: ...


def about(
    obj: OutputObject,
    code: str,
    path: FieldPath,
    message: str,
    hint: str,
    *,
    anchor: Anchor = Anchor.VALUE,
) -> ObjectFinding:
    """Return a finding about the field at `path` of an output object, with the catalogue's severity for `code`.

    Raises `KeyError` for an unknown code.
    """
    return ObjectFinding(obj.id, finding(code, path, message, hint, anchor=anchor), obj.spec, obj.source)


def lenient(obj: OutputObject, code: str, path: FieldPath, message: str, hint: str) -> ObjectFinding:
    """Return a finding that is a warning for an object of a user or an extension, whose author may have intended it.

    For an object that Stowplan writes, it has the catalogue's severity for `code`. `path` is that of the field.
    """
    severity = None if obj.authored else Severity.WARNING
    return ObjectFinding(obj.id, finding(code, path, message, hint, severity=severity), obj.spec, obj.source)


def about_problem(obj: OutputObject, code: str, problem: SchemaProblem, prefix: FieldPath = ()) -> ObjectFinding:
    """Return the finding for a problem that a schema reports about the object, or about its part at `prefix`."""
    path = (*prefix, *problem.path)
    return about(obj, code, path, problem.message, problem.hint, anchor=problem.anchor)
