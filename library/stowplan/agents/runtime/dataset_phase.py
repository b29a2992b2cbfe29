"""Phase of a SampleSet, in the terms of the PaddlePaddle operator. All agents derive it here."""

from typing import Literal

Phase = Literal["Bound", "Mount", "Syncing", "SyncFailed", "PartialReady", "Ready"]
Course = Literal["unknown", "under way", "succeeded", "failed"]
"""State of a SampleSet's task; `unknown` before it has begun."""


def of_caches(sync: Course, *, alive: bool, whole: bool, mounted: bool, bound: bool = True) -> Phase | None:
    """Return the phase of a dataset that nodes cache; None while nothing is known.

    `sync` is the state of the sync, and `succeeded` for a dataset without one. `alive`: caches serve the dataset, or
    did so before. `whole`: all wanted caches serve it. `mounted`: at least one cache has mounted it. `bound`: its claim
    has a volume.
    """
    if sync == "failed":
        return "SyncFailed"
    if sync == "under way":
        return "Syncing"
    if sync == "succeeded" and alive:
        return "Ready" if whole else "PartialReady"
    if mounted:
        return "Mount"
    return "Bound" if bound else None


def of_claim(sync: Course) -> Phase | None:
    """Return the phase of a dataset in a plain claim, which no node caches."""
    return of_caches(sync, alive=True, whole=True, mounted=False, bound=False)
