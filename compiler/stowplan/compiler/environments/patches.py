"""Patches of an environment, applied to the documents of specs before these are validated."""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.environments.overlay import merged, of_file, placed
from stowplan.compiler.kubernetes.fields import namespace_and_name, value_at
from stowplan.library.values.strategic_merge import PatchError
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.environments import JsonOperation, PatchTarget, SpecPatch

_IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch of an environment. `path` is its place in the platform file, `node` its node there."""

    given: SpecPatch
    path: FieldPath
    node: Node


def matches(target: PatchTarget, spec: SpecId) -> bool:
    """Whether a patch with this `target` is for a spec; what the target does not give, it takes of any."""
    return target.kind == spec.kind and target.name in (None, spec.name) and target.namespace in (None, spec.namespace)


def apply(
    document: Document, patches: Iterable[Patch], platform_file: str, namespace: str
) -> tuple[Document, list[Finding]]:
    """Return the document of a spec with all patches that are for it, and findings with paths in the platform file.

    `namespace` is that of specs that name none. A patch that cannot be applied is SP806, one that changes the identity
    of the spec is SP807; it changes nothing. Values that came from a patch have their positions in the platform file.
    """
    found: list[Finding] = []
    for patch in patches:
        spec = _identity(document.data, namespace)
        if spec is None or not matches(patch.given.target, spec):
            continue
        changed, problems = _applied(document.root, patch, spec, platform_file)
        problems += [
            _moved(patch, spec, field)
            for field in _IDENTITY
            if value_at(document.data, field) != value_at(changed.data, field)
        ]
        found += problems
        if not problems:
            document = replace(document, given=changed)
    return document, found


def _identity(data: Any, namespace: str) -> SpecId | None:
    kind = data.get("kind")
    return SpecId(kind, *namespace_and_name(data, namespace)) if isinstance(kind, str) and kind in KINDS else None


def _applied(root: Node, patch: Patch, spec: SpecId, file: str) -> tuple[Node, list[Finding]]:
    """Return the nodes of a spec with a patch applied, or unchanged, and findings with paths in the platform file."""
    if patch.given.merge is not None:
        whole, path = _below(patch, "merge", file)
        try:
            data = merged(root.data, patch.given.merge, KINDS[spec.kind].model)
        except PatchError as problem:
            message = f"The patch cannot be merged over {spec}: {problem}"
            return root, [finding("SP806", (*path, *problem.path), message, "Correct the patch.")]
        return placed(data, root, whole, whole), []
    whole, path = _below(patch, "json", file)
    for index, operation in enumerate(patch.given.json_ or ()):
        own = whole.child(index) or whole
        data, refusal = _operated(root.data, operation)
        if refusal:
            hint = "Correct the path, or add the field first. `stowplan explain` shows the fields of a kind."
            return root, [finding("SP806", (*path, index), f"{refusal} {spec}.", hint)]
        root = placed(data, root, None, own.child("value") or own)
    return root, []


def _below(patch: Patch, key: str, file: str) -> tuple[Node, FieldPath]:
    return of_file(patch.node.child(key) or patch.node, file), (*patch.path, key)


def _operated(data: Any, operation: JsonOperation) -> tuple[Any, str]:
    """Return plain data after one operation of a JSON Patch, and the beginning of a message if it is not possible."""
    from jsonpatch import (  # noqa: PLC0415 - start-up time
        JsonPatch,
        JsonPatchException,
        JsonPatchTestFailed,
        JsonPointerException,
    )

    given = operation.model_dump(by_alias=True, exclude_unset=True)
    try:
        return JsonPatch([given]).apply(copy.deepcopy(data)), ""
    except JsonPatchTestFailed:
        return data, f"The test fails: {operation.path} has another value in"
    except (JsonPatchException, JsonPointerException, TypeError):
        where = f" or {operation.from_}" if operation.from_ is not None else ""
        return data, f"The operation `{operation.op}` is not possible at {operation.path}{where} of"


def _moved(patch: Patch, spec: SpecId, field: tuple[str, ...]) -> Finding:
    message = f"The patch changes `{'.'.join(field)}` of {spec}, by which specs are told apart."
    hint = "Patch other fields. For a spec of another name, write a file of its own, and name it in `only`."
    return finding("SP807", patch.path, message, hint)
