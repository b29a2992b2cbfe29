"""Rules of the environments of a platform file that its model does not express."""

from collections.abc import Iterator, Sequence

from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.platform.environments import JsonOperation, SpecPatch
from stowplan.schema.platform.platform import Platform

ALL = "all"
"""The value of the option `--env` that stands for all environments."""

_NEEDED = {"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from"}
"""The field that an operation of a JSON Patch needs besides `path`."""


def findings(platform: Platform) -> Iterator[Finding]:
    """Yield a finding for each name that is given twice or not allowed, and for each patch that is incomplete."""
    yield from _twice([each.name for each in platform.environments], ("environments",), "environment")
    for index, environment in enumerate(platform.environments):
        path: FieldPath = ("environments", index)
        if environment.name == ALL:
            message = f"No environment can be named {ALL}: `--env {ALL}` stands for all of them."
            yield finding("SP826", (*path, "name"), message, "Give it another name.")
        yield from _twice([each.name for each in environment.clusters], (*path, "clusters"), "cluster")
        for number, patch in enumerate(environment.patches):
            yield from _patch(patch, (*path, "patches", number))
        if environment.start and environment.runs == "automatic":
            message = "`start` names runs, but every run starts here by itself: `runs` is `automatic`."
            yield finding("SP805", (*path, "start"), message, "Write `runs: manual`, or remove `start`.")


def _twice(names: Sequence[str], path: FieldPath, what: str) -> Iterator[Finding]:
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"There are two of the {what} {name}; each has a folder of the output of its own."
            yield finding("SP801", (*path, index, "name"), message, "Give one of them another name.")


def _patch(patch: SpecPatch, path: FieldPath) -> Iterator[Finding]:
    if (patch.merge is None) == (patch.json_ is None):
        found = "neither of them" if patch.merge is None else "both"
        hint = "Give `merge` with fields of the spec, or `json` with a list of operations."
        yield finding("SP802", path, f"A patch has either `merge` or `json`; this one has {found}.", hint)
    for index, operation in enumerate(patch.json_ or ()):
        yield from _operation(operation, (*path, "json", index))


def _operation(operation: JsonOperation, path: FieldPath) -> Iterator[Finding]:
    needed = _NEEDED.get(operation.op)
    given = {"value": "value" in operation.model_fields_set, "from": operation.from_ is not None}
    if needed and not given[needed]:
        yield finding("SP202", (*path, needed), f'The field "{needed}" is missing.', f"Add `{needed}`.")
