"""Merging a patch over a spec: by the models of its kind, and by Kubernetes' rules for the values of its types."""

from typing import Any

from stowplan.library.values import strategic_merge
from stowplan.schema.meta import Model
from stowplan.schema.parse_model import parts

_Json = dict[str, Any]


def merged(base: _Json, patch: _Json, model: type[Model] | None) -> _Json:
    """Return `base` with `patch` merged over it; `model` is that of both, None if there is none.

    Mappings are merged field by field, null removes a field, and other values are replaced, lists too. Values of
    embedded Kubernetes types are merged by Kubernetes' strategic merge, and lists of them as pod templates merge lists
    of the same type: variables by name, for example. Raises `strategic_merge.PatchError`.
    """
    known = parts(model) if model else {}
    result = dict(base)
    for key, value in patch.items():
        definition, below = known.get(key, ("", None))
        old = result.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and not definition:
            try:
                result[key] = merged(old, value, below)
            except strategic_merge.PatchError as problem:
                raise strategic_merge.PatchError(str(problem), (key, *problem.path)) from None
        else:
            rule = (
                strategic_merge.of_items(definition) if isinstance(value, list) and definition else {"of": definition}
            )
            one = {key: old} if key in result else {}
            result.pop(key, None)
            result |= strategic_merge.merge(one, {key: value}, {key: rule})
    return result
