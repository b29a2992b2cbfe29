"""Runs that continue from the checkpoints of another run."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from stowplan.compiler.checks.objects.pods import pods_of
from stowplan.compiler.diff.change import Action, Danger, Pair, Risk
from stowplan.library.builders.pods import lineage_container
from stowplan.library.manifest import Json


class Lineage(NamedTuple):
    """The lineage of a run, and the image of its trainer."""

    name: str
    image: str


def lineages(pair: Pair) -> Iterator[Risk]:
    """Yield a risk if a run takes the place of another one that has checkpoints: does it go on from them, and how?"""
    if pair.action is not Action.REPLACED:
        return
    before, after = lineage_of(pair.before or {}), lineage_of(pair.after or {})
    if before is None:
        return
    if after is None:
        yield Risk(Danger.RUN, f"It does not continue lineage {before.name}: it has no checkpoints.")
    elif after.name != before.name:
        yield Risk(Danger.RUN, f"It begins or continues lineage {after.name}, and not {before.name}.")
    elif after.image != before.image:
        text = f"It continues lineage {after.name} with another image: {after.image} in the place of {before.image}."
        yield Risk(Danger.RUN, text)
    else:
        yield Risk(Danger.RUN, f"It continues lineage {after.name}.")


def lineage_of(body: Json) -> Lineage | None:
    """Return the lineage of a compiled run, from the arguments of its sidecar; None if it has none."""
    for pod in pods_of(body):
        for _, container in pod.containers:
            if lineage_container.is_ours(container):
                given = dict(pairwise(container.get("args") or ()))
                return Lineage(str(given.get("--lineage")), str(given.get("--image")))
    return None
