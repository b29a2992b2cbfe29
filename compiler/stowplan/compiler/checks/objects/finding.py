"""A finding about one object of the output."""

from typing import Protocol

from stowplan.compiler.kubernetes.schema_checker import SchemaProblem
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, Severity, finding
from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class ObjectFinding:
    """What is wrong with an object, or with its absence.

    `found.path` is a path inside the object. `spec` is the spec that it was compiled from, or None. `source` is the
    user's file that it comes from, empty where that is not known. `edits` are fields of the spec that are its cause;
    users are shown the first of them, or the name of the spec where there is none.
    """

    object: ObjectId
    found: Finding
    spec: SpecId | None = None
    source: str = ""
    edits: tuple[FieldPath, ...] = ()


class Made(Protocol):
    """An object of the output, itself or what is known of it."""

    @property
    def id(self) -> ObjectId: ...
    @property
    def spec(self) -> SpecId | None: ...
    @property
    def source(self) -> str: ...
    @property
    def authored(self) -> bool: ...


def about(
    obj: Made,
    code: str,
    path: FieldPath,
    message: str,
    hint: str,
    *,
    severity: Severity | None = None,
    anchor: Anchor = Anchor.VALUE,
) -> ObjectFinding:
    """A finding about an object of the output, with the catalogue's severity unless one is given."""
    found = finding(code, path, message, hint, severity=severity, anchor=anchor)
    return ObjectFinding(obj.id, found, obj.spec, obj.source)


def about_problem(obj: Made, code: str, problem: SchemaProblem, prefix: FieldPath = ()) -> ObjectFinding:
    """What a schema finds wrong with an object, or with the part of it at `prefix`."""
    path = (*prefix, *problem.path)
    return about(obj, code, path, problem.message, problem.hint, anchor=problem.anchor)


def milder(obj: Made) -> Severity | None:
    """A warning for what a user or an extension brought and may have meant; else the catalogue's severity."""
    return None if obj.authored else Severity.WARNING
