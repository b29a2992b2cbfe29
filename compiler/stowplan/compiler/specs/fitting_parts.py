"""Findings of a kind's rules about those parts of a spec that fit the schemas of Kubernetes, if others do not.

Parts are judged as a whole: a field of a container or of a pod, or a field of the spec that holds Kubernetes values. A
part with a problem is left out, and so are findings that may follow from its absence alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stowplan.library.builders.pods.training_pod import CONTAINER_LISTS
from stowplan.library.dialects.registry import DIALECTS
from stowplan.schema.diagnostics import FieldPath, Finding, nearest
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.platform.platform import Platform

_FOLLOWING: Mapping[str, frozenset[str]] = {
    "args": frozenset({"SP453"}),
    "command": frozenset({"SP453"}),
    "containers": frozenset({"SP202", "SP434", "SP437", "SP477", "SP486", "SP488"}),
    "dnsPolicy": frozenset({"SP441"}),
    "env": frozenset({"SP434"}),
    "image": frozenset({"SP202"}),
    "name": frozenset({"SP477", "SP488"}),
    "resources": frozenset({"SP486"}),
    "resourcesPerNode": frozenset({"SP486"}),
    "spec": frozenset({"SP434", "SP437", "SP477", "SP486"}),
    "template": frozenset({"SP434", "SP437", "SP477", "SP486"}),
    "volumes": frozenset({"SP442"}),
}
"""Codes of findings that may follow from the absence of a part, by the name of the part."""


def findings(
    model: CustomResource, problems: Iterable[tuple[FieldPath, FieldPath]], platform: Platform
) -> Iterator[Finding]:
    """Yield the findings of the kind's rules about the rest of a spec, without the parts that have `problems`.

    A problem is the path of a Kubernetes value in the document, and the path in that value.
    """
    rules = DIALECTS[model.kind].rules
    if rules is None:
        return
    parts = {_part(*problem) for problem in problems}
    held_back = {code for part in parts for code in _FOLLOWING.get(_name(part), ())}
    data = model.model_dump(by_alias=True, exclude_unset=True)
    for part in parts:
        _empty(data, part)
    for found in rules(type(model).model_validate(data), platform):
        if found.code not in held_back:
            yield found


def _part(value: FieldPath, problem: FieldPath) -> FieldPath:
    """Return the path of the part to drop so that the rest of the spec can be checked."""
    match problem:
        case _ if value[-1] != "template":
            return value[:-1] if isinstance(value[-1], int) else value
        case ("spec", str(field), int(), *_) if field in CONTAINER_LISTS:
            return (*value, *problem[:4])
        case ("spec" | "metadata", *_):
            return (*value, *problem[:2])
        case _:
            return value


def _name(part: FieldPath) -> str:
    """Return the name of a part: of a container that of its list, of a misspelt field probably the right one."""
    name = next(key for key in reversed(part) if isinstance(key, str))
    return nearest(name, _FOLLOWING) or name


def _empty(data: dict[str, Any], part: FieldPath) -> None:
    """Take a part out of a document. A list keeps its length, so that paths of other items stay right."""
    node: Any = data
    for key in part[:-1]:
        try:
            node = node[key]
        except (KeyError, TypeError):
            return  # A missing field, or a part of one that was taken out before.
    last = part[-1]
    if isinstance(last, int):
        node[last] = {}
    elif isinstance(node, dict):
        node.pop(last, None)
