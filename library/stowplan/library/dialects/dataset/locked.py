"""The revision that a Dataset is always copied from, so that a job can wait for that very one."""

from stowplan.library.dialects.reading.floating import COMMIT
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.remotes.place import Place


def place_of(model: Dataset) -> Place | None:
    """Return the place that a Dataset is copied from; None without a source, or for a `storage`."""
    given = model.spec.source and model.spec.source.given
    return given[1] if given else None


def revision_of(model: Dataset) -> str | None:
    """Return the commit, or the hash of the listing, of the source of a Dataset; None if the source may move.

    What the lock file names is in the Dataset already.
    """
    place = place_of(model)
    if place is None or model.spec.refresh:
        return None
    named = place.named_revision
    return named if place.LISTED or (named and COMMIT.fullmatch(named)) else None
