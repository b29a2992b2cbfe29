"""Phase of a SampleSet (a dataset), in the terms of the PaddlePaddle operator. All agents derive the phase here."""

from typing import Literal

Phase = Literal["Bound", "Mount", "Syncing", "SyncFailed", "PartialReady", "Ready"]
Course = Literal["unknown", "under way", "succeeded", "failed"]
"""State of a task of a SampleSet, such as its sync; `unknown` before the task has begun."""


def of_caches(sync: Course, *, alive: bool, whole: bool, mounted: bool, bound: bool = True) -> Phase | None:
    """Return the phase of a dataset that cluster nodes cache; None while nothing is known.

    `sync` is the state of the dataset's sync, and `succeeded` for a dataset without a sync. `alive` is whether a cache
    serves the dataset, or did so before. `whole` is whether all wanted caches serve the dataset. `mounted` is whether
    at least one cache has mounted the dataset. `bound` is whether the dataset's PersistentVolumeClaim has a volume.
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
    """Return the phase of a dataset in a PersistentVolumeClaim without caches; None before its sync has begun."""
    return of_caches(sync, alive=True, whole=True, mounted=False, bound=False)
