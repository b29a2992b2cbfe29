"""The revision that a Dataset is always copied from, so that a job can wait for that very one."""

from stowplan.library.dialects.reading.floating import COMMIT
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.remotes.place import Place


def revision_of(model: Dataset) -> str | None:
    """Return the commit, or the hash of the listing, of the source of a Dataset; None if the source may move.

    What the lock file names is in the Dataset already.
    """
    place = _place(model)
    if place is None or model.spec.refresh:
        return None
    named = place.named_revision
    return named if place.LISTED or (named and COMMIT.fullmatch(named)) else None


def ref_of(model: Dataset) -> str | None:
    """Return the branch, tag or commit that the source of a Dataset names; None if it names none."""
    place = _place(model)
    return place.named_revision if place and not place.LISTED else None


def listing_of(model: Dataset) -> str | None:
    """Return the hash of the listing that the source of a Dataset names; None if it names none."""
    place = _place(model)
    return place.named_revision if place and place.LISTED else None


def _place(model: Dataset) -> Place | None:
    given = model.spec.source and model.spec.source.given
    return given[1] if given else None
