"""Options of a SampleJob's sync by the transfer agent."""

from collections.abc import Iterator

from stowplan.library.ir.data import DataTask
from stowplan.schema.diagnostics import Anchor, Finding, finding, without_effect
from stowplan.schema.juicefs.sync_options import SyncOptions

_KNOWN = frozenset({"source", "destination", "threads", "delete-dst", "no-https"})
_ALWAYS = frozenset({"update", "force-update", "check-new", "check-change", "check-all", "dirs"})
"""Options without effect: the agent always fetches changed files, and verifies all files that it fetches."""

MOST_THREADS = 256
"""Largest number of concurrent requests of the transfer agent."""


def findings(task: DataTask) -> Iterator[Finding]:
    """Yield findings about options that are unsupported or dangerous, or that have no effect."""
    options = task.sync_options
    if options.delete_dst and not (task.dataset.claim.sub_path or task.destination.strip("/")):
        message = "`delete-dst` would delete whatever else the claim holds: the dataset is at its root."
        hint = "Give `csi.claim.subPath` to the SampleSet, or a `destination`."
        yield finding("SP497", ("spec", "syncOptions", "delete-dst"), message, hint)
    for key, value in options.model_dump(exclude_unset=True, exclude_none=True).items():
        path = ("spec", "syncOptions", key)
        if key in _KNOWN or not value:
            continue
        if key in _ALWAYS:
            yield without_effect(path, f"`{key}` has no effect: what changed is always fetched, and verified.")
        else:
            message = f"`{key}` is an option of JuiceFS; this dataset is a claim."
            known = ", ".join(f"`{each}`" for each in sorted(_KNOWN))
            yield finding("SP456", path, message, f"Remove it. Known are {known}.", anchor=Anchor.KEY)


def threads(options: SyncOptions) -> int:
    """Return the number of concurrent requests of the transfer agent: `threads`, by default 10."""
    return min(max(options.threads or 10, 1), MOST_THREADS)
