"""Digests of specs: of all that a spec says, of what its run depends on, and of the place of a dataset."""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from stowplan.compiler.kubernetes.fields import value_at
from stowplan.library.values.canonical_json import ascii_json
from stowplan.schema.kinds.custom_resource import CustomResource

Content = dict[str, Any]


class Digests(NamedTuple):
    """What identifies the state of a spec for others: SHA-256 digests in hexadecimal, which cover its namespace too.

    `content` covers all that the spec says; its file, formatting, legacy names of keys and `status` do not matter.
    `run` covers what its run depends on: the content without the fields `OUTSIDE_RUN` of its kind. A dataset is not
    copied again because other or more nodes cache it, and a job does not train again because its outputs go elsewhere.
    `place` covers where the data of a dataset comes from and is stored; it is empty for other kinds.
    """

    content: str
    run: str
    place: str


def of_spec(model: CustomResource, namespace: str) -> Digests:
    """Return the digests of a spec. `namespace` is that of the spec, also if the model names none."""
    content: Content = model.model_dump(mode="json", exclude_unset=True)
    whole = run = _digest(namespace, content)
    if model.OUTSIDE_RUN:
        run = _digest(namespace, {**content, "spec": _without(content["spec"], model.OUTSIDE_RUN)})
    place = [value_at(content["spec"], path) for path in model.PLACE]
    place += [value for path in model.PLACE_IF_GIVEN if (value := value_at(content["spec"], path)) is not None]
    return Digests(whole, run, _digest(namespace, {"place": place}) if place else "")


def _digest(namespace: str, content: Content) -> str:
    return hashlib.sha256(ascii_json([namespace, content])).hexdigest()


def _without(content: Content, paths: Sequence[tuple[str, ...]]) -> Content:
    """Return `content` without the fields at these paths; fields above them remain, though empty."""
    below: dict[str, list[tuple[str, ...]]] = {}
    for key, *rest in paths:
        below.setdefault(key, []).append(tuple(rest))
    kept = {key: value for key, value in content.items() if () not in below.get(key, ())}
    return {
        key: _without(value, below[key]) if key in below and isinstance(value, dict) else value
        for key, value in kept.items()
    }
