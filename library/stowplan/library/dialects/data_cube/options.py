"""The options of a DataCube's sides: known options, required options, and options that must be literal."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from stowplan.library.dialects.data_cube.variable_references import references
from stowplan.library.manifest import Json
from stowplan.schema.agents.transfer_config import option_env
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, did_you_mean, finding
from stowplan.schema.kinds.data_cube import DataReference, SideType

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


OPTIONS: Mapping[SideType, Mapping[str, Option]] = {
    "git": {
        "token": Option(secret=True),
        "url": Option(required=True),
        "ref": Option("source"),
    },
    "huggingface": {
        "token": Option(secret=True),
        "repo": Option(required=True),
        "repo-type": Option(literal=True),
        "revision": Option(),
        "files": Option("source", literal=True),
        "path-in-repo": Option("sink"),
        "commit-message": Option("sink"),
    },
    "s3": {
        "s3-endpoint": Option(),
        "s3-region": Option(),
        "s3-access-key-id": Option(),
        "s3-secret-access-key": Option(secret=True),
        "s3-session-token": Option(secret=True),
        "s3-uri": Option(required=True, literal=True),
        "s3-no-check-bucket": Option("sink"),
    },
    "pvc": {},
}
"""Options by type of side and name. The old system had all of them except `repo-type`, `revision`, `s3-region` and
`s3-session-token`."""

REMOTE_TYPES = tuple(each for each in OPTIONS if each != "pvc")
"""The types of a remote side."""

REPO_TYPES = ("model", "dataset", "space")
_REPO = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?", re.ASCII)
_VARIABLES_ONLY = re.compile(r"(\$\([^)]*\))+")


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
    """Return the literal value of an option; the empty string for an option without one."""
    variable = reference.by_name.get(name)
    return str(variable.get("value") or "") if variable else ""


def files(reference: DataReference) -> list[str]:
    """Return the names in the option `files`, which are separated by commas; an empty list without the option."""
    text = literal(reference, "files")
    return [part.strip() for part in text.split(",")] if text.strip() else []


def path_of(reference: DataReference, name: str, base: FieldPath) -> FieldPath:
    """Return the path of an option's value; the path of the list of options if the option is not given.

    `base` is the path of the side.
    """
    for index, each in enumerate(reference.options or ()):
        if each.get("name") == name:
            field = "valueFrom" if "valueFrom" in each and "value" not in each else "value"
            return (*base, "options", index, field)
    return (*base, "options")


def findings(reference: DataReference, side: Side, base: FieldPath) -> list[Finding]:
    """Return all findings about the options of one side. `base` is the path of that side."""
    found = [
        problem for index, each in enumerate(reference.options or ()) for problem in _one(each, reference, side, index)
    ]
    return [*found, *_required(reference, base), *_values(reference, base)]


def _one(variable: Json, reference: DataReference, side: Side, index: int) -> Iterator[Finding]:
    known = OPTIONS[reference.type]
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
    others = [other for other, options in OPTIONS.items() if other != kind and name in options]
    if others:
        return f"It is one of {' and '.join(others)}; those of {kind} are {', '.join(OPTIONS[kind])}."
    return did_you_mean(name.replace("_", "-"), OPTIONS[kind])


def _form(name: str, variable: Json, option: Option, side: Side, path: FieldPath) -> Iterator[Finding]:
    if option.side and option.side != side:
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
    for name, option in OPTIONS[reference.type].items():
        if option.required and not certain(reference, name):
            hint = f"Add `name: {name}` with a value."
            yield _needed(reference, name, base, hint)
    if reference.type == "s3":
        yield from _keys(reference, base)


def _keys(reference: DataReference, base: FieldPath) -> Iterator[Finding]:
    keys = ("s3-access-key-id", "s3-secret-access-key")
    anonymous = bool(reference.s3 and reference.s3.anonymous)
    for name in (*keys, "s3-session-token"):
        if anonymous and given(reference, name):
            message = f"`{name}` is not used, since `s3.anonymous` is true."
            hint = "Remove one of the two."
            yield finding("SP406", path_of(reference, name, base)[:-1], message, hint)
        elif not anonymous and name in keys and not certain(reference, name):
            hint = f"Add `name: {name}` with a key of a Secret, or set `s3.anonymous: true` for a public bucket."
            yield _needed(reference, name, base, hint)


def _needed(reference: DataReference, name: str, base: FieldPath, hint: str) -> Finding:
    """Return a finding about a required option that is not given or has an optional reference."""
    message = f"{reference.type} needs the option `{name}`."
    if given(reference, name):
        message = f"{reference.type} needs the option `{name}`, but its key may be missing (`optional: true`)."
        hint = "Remove `optional`."
    return finding("SP494", path_of(reference, name, base), message, hint)


def _values(reference: DataReference, base: FieldPath) -> Iterator[Finding]:
    """Yield findings about the form of literal values of options."""
    match reference.type:
        case "huggingface":
            yield from _hugging_face(reference, base)
        case "s3":
            yield from _flag(reference, base)
        case _:
            pass


def _hugging_face(reference: DataReference, base: FieldPath) -> Iterator[Finding]:
    repo, kind = literal(reference, "repo"), literal(reference, "repo-type")
    if repo and "$" not in repo and not _REPO.fullmatch(repo):
        message = f'"{repo}" is not a repository: found neither `owner/name` nor `name`.'
        yield finding("SP494", path_of(reference, "repo", base), message, "Write for example `google/gemma-2b`.")
    if kind and kind not in REPO_TYPES and not references(kind):
        path = path_of(reference, "repo-type", base)
        yield finding("SP494", path, f'"{kind}" is not a type of repository.', did_you_mean(kind, REPO_TYPES))
    path = path_of(reference, "files", base)
    for name in files(reference):
        if not name:
            yield finding("SP494", path, "The list of files has an empty element.", "Remove the comma too many.")
        elif name.startswith("/") or ".." in name.split("/"):
            yield finding("SP494", path, f'"{name}" leads out of the repository.', "Write paths from its root.")


def _flag(reference: DataReference, base: FieldPath) -> Iterator[Finding]:
    value = literal(reference, "s3-no-check-bucket")
    if value and value not in ("true", "false") and "$" not in value:
        path = path_of(reference, "s3-no-check-bucket", base)
        yield finding("SP494", path, f'"{value}" is neither true nor false.', 'Write "true", with quotes.')


def env_name(reference: DataReference, name: str) -> str | None:
    """Return the name of the environment variable that carries an option; None for an option without a value."""
    return option_env(name) if given(reference, name) else None
