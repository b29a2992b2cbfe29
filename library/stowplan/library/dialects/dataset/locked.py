"""The revision that a Dataset is always copied from, so that a job can wait for that very one."""

from stowplan.library.dialects.reading.floating import COMMIT
from stowplan.schema.kinds.native.dataset import Dataset


def revision_of(model: Dataset) -> str | None:
    """Return the commit, or the hash of the listing, of the source of a Dataset; None if the source may move.

    What the lock file names is in the Dataset already.
    """
    if model.spec.source is None or model.spec.refresh:
        return None
    if model.spec.source.s3:
        return model.spec.source.s3.revision
    ref = ref_of(model)
    return ref if ref and COMMIT.fullmatch(ref) else None


def ref_of(model: Dataset) -> str | None:
    """Return the branch, tag or commit that the source of a Dataset names; None if it names none."""
    source = model.spec.source
    if source is None:
        return None
    return (source.git.ref if source.git else None) or (source.huggingface.revision if source.huggingface else None)
