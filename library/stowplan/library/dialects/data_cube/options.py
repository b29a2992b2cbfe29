"""The options of a DataCube's sides: what a remote declares of each, and how their values are read."""

from dataclasses import dataclass
from typing import Literal

from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding, Severity, finding
from stowplan.schema.kinds.data_cube import DataReference

Side = Literal["source", "sink"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option: the side where it has an effect (None for both), and the form of its value.

    A literal option decides what is compiled, so it must be a plain value. A secret option must be a reference to a
    Secret or to variables.
    """

    side: Side | None = None
    required: bool = False
    literal: bool = False
    secret: bool = False

    def acts_on(self, side: Side) -> bool:
        """Return whether the option has an effect on this side."""
        return self.side in (None, side)


def given(reference: DataReference, name: str) -> bool:
    """Return whether the option has a literal value that is not empty, or a reference, optional or not."""
    variable = reference.by_name.get(name)
    return variable is not None and bool(variable.get("value") or variable.get("valueFrom"))


def certain(reference: DataReference, name: str) -> bool:
    """Return whether the option has a literal value that is not empty, or a reference that is not optional."""
    return given(reference, name) and not may_be_missing(reference.by_name[name])


def may_be_missing(variable: Json) -> bool:
    """Return whether a variable has an optional reference, so that the pod may start without this variable."""
    source = variable.get("valueFrom")
    if not source:
        return False
    return any((source.get(field) or {}).get("optional") for field in ("secretKeyRef", "configMapKeyRef"))


def literal(reference: DataReference, name: str) -> str:
    """Return the literal value of the option `name` as it is written, with variables such as `$(TOKEN)`.

    The empty string if the option is not given, or has a reference instead (`valueFrom`).
    """
    variable = reference.by_name.get(name)
    return str(variable.get("value") or "") if variable else ""


def path_of(reference: DataReference, name: str, base: FieldPath) -> FieldPath:
    """Return the path of an option's value; the path of the list of options if the option is not given.

    `base` is the path of the side.
    """
    for index, each in enumerate(reference.options or ()):
        if each.get("name") == name:
            field = "valueFrom" if "valueFrom" in each and "value" not in each else "value"
            return (*base, "options", index, field)
    return (*base, "options")


def needed(reference: DataReference, name: str, base: FieldPath, hint: str) -> Finding:
    """Return a finding about a required option that is not given or has an optional reference.

    `base` is the path of the side. `hint` says what to do if the option is not given.
    """
    message = f"{reference.type} needs the option `{name}`."
    if given(reference, name):
        message = f"{reference.type} needs the option `{name}`, but its key may be missing (`optional: true`)."
        hint = "Remove `optional`."
    return finding("SP494", path_of(reference, name, base), message, hint)


def without_token(base: FieldPath) -> Finding:
    """Return a finding about an upload without a token. `base` is the path of the side."""
    message = "The upload has no token, so only a server that lets anybody write would take it."
    hint = "Add the option `token`, from a Secret."
    return finding("SP494", (*base, "options"), message, hint, severity=Severity.WARNING)
