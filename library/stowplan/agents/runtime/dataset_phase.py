"""The phase of a SampleSet, in the words of the old operator: the same whoever of the agents tells it."""

from typing import Literal

Phase = Literal["Bound", "Mount", "Syncing", "SyncFailed", "PartialReady", "Ready"]
Course = Literal["unknown", "under way", "succeeded", "failed"]
"""How a task of a SampleSet stands; unknown before it has begun."""


def of_caches(sync: Course, *, alive: bool, whole: bool, mounted: bool, bound: bool = True) -> Phase | None:
    """Where nodes cache the dataset; None where nothing can be said yet. `sync` is succeeded where none fills it.

    `alive` is that caches serve the dataset, or did so before; `whole`, that all do which are wanted; `mounted`, that
    one has mounted it; `bound`, that its claim has a volume.
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
    """Of a dataset in a plain claim, which no node caches."""
    return of_caches(sync, alive=True, whole=True, mounted=False, bound=False)
