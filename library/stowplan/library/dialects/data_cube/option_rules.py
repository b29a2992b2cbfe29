"""Rules of the options of a DataCube's sides that hold for every remote."""

import re
from collections.abc import Iterator, Mapping

from stowplan.library.dialects.data_cube.options import Option, Side, certain, needed
from stowplan.library.dialects.data_cube.remotes.registry import REMOTES
from stowplan.library.manifest import Json
from stowplan.library.values.variable_references import references
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, did_you_mean, finding
from stowplan.schema.kinds.data_cube import DataReference
from stowplan.schema.remotes.registry import SideType

_VARIABLES_ONLY = re.compile(r"(\$\([^)]*\))+")


def findings(reference: DataReference, side: Side, base: FieldPath) -> list[Finding]:
    """Return findings about unknown, missing, literal and secret options of one side.

    `base` is the path of that side.
    """
    found = [
        problem for index, each in enumerate(reference.options or ()) for problem in _one(each, reference, side, index)
    ]
    return [*found, *_required(reference, base)]


def _known(kind: SideType) -> Mapping[str, Option]:
    """Return the options of a type of side, by name. A claim has none."""
    return {} if kind == "pvc" else REMOTES[kind].options


def _one(variable: Json, reference: DataReference, side: Side, index: int) -> Iterator[Finding]:
    known = _known(reference.type)
    name = str(variable.get("name", ""))
    path: FieldPath = ("spec", side, "options", index)
    if reference.type == "pvc":
        message = "A claim has no options."
        yield finding("SP491", (*path, "name"), message, "Remove it; say where the data is in `pvc`.")
    elif name not in known:
        message = f'"{name}" is not an option of {reference.type}.'
        yield finding("SP491", (*path, "name"), message, _meant(name, reference.type))
    else:
        yield from _form(name, variable, known[name], side, path)


def _meant(name: str, kind: SideType) -> str:
    """Return a hint for the unknown option `name`: the types that have it, or a similar option of `kind`."""
    others = [other for other, remote in REMOTES.items() if other != kind and name in remote.options]
    if others:
        return f"It is one of {' and '.join(others)}; those of {kind} are {', '.join(_known(kind))}."
    return did_you_mean(name.replace("_", "-"), _known(kind))


def _form(name: str, variable: Json, option: Option, side: Side, path: FieldPath) -> Iterator[Finding]:
    if not option.acts_on(side):
        message = f"`{name}` has no effect on a {side}."
        yield finding("SP406", (*path, "name"), message, "Remove it.", anchor=Anchor.VALUE)
    if option.literal and "valueFrom" in variable:
        message = f"`{name}` decides what is compiled, so its value must be here."
        yield finding("SP494", (*path, "valueFrom"), message, "Write it as `value`.")
    value = str(variable.get("value") or "")
    if option.literal and references(value):
        message = f"`{name}` holds a reference to a variable, but decides what is compiled."
        yield finding("SP494", (*path, "value"), message, "Write it out.")
    if option.secret and value and not _VARIABLES_ONLY.fullmatch(value):
        message = f"`{name}` is secret; what is committed to Git is no secret any more."
        hint = "Take it from a Secret by `valueFrom.secretKeyRef`, and revoke this one."
        yield finding("SP603", (*path, "value"), message, hint)


def _required(reference: DataReference, base: FieldPath) -> Iterator[Finding]:
    for name, option in _known(reference.type).items():
        if option.required and not certain(reference, name):
            yield needed(reference, name, base, f"Add `name: {name}` with a value.")
