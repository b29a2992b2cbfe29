"""The revision of a dataset that a Training waits for."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.locked import place_of, revision_of
from stowplan.library.dialects.reading.floating import COMMIT
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.forms import LOCKED
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.training_parts import TrainingDataset, TrainingWait
from stowplan.schema.remotes.s3_listing import JUICEFS_STORAGES, LISTING


def wait_of(given: TrainingDataset) -> TrainingWait | None:
    """Return what the job waits for: the field `wait`, or its default if only a revision is given; None for nothing."""
    return given.wait or (TrainingWait() if given.revision else None)


def named(given: TrainingDataset, model: Dataset) -> str | None:
    """Return the revision that the Dataset `model` must hold; None for any, and for `locked` if nothing locks it."""
    return revision_of(model) if given.revision == LOCKED else given.revision


def findings(given: TrainingDataset, model: Dataset, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if the Dataset `model` never reports the revision, whose path in the Training is `path`.

    Of a Dataset without a source nothing is known: its volume may be filled by another one.
    """
    wanted, source = named(given, model), model.spec.source
    if given.revision == LOCKED and wanted is None:
        yield finding("SP905", path, *_unlocked(model))
    if wanted is None or source is None:
        return
    show = f"`kubectl get datasets.stowplan.dev {model.metadata.name} -o jsonpath={{.status.revision}}` shows it."
    of_listing, name = wanted.startswith(LISTING), model.metadata.name
    place = place_of(model)
    fixed = place.named_revision if place else None
    storage = source.storage.uri.partition("://")[0] if source.storage else None
    listed = storage or (place and place.LISTED)
    if storage and storage not in JUICEFS_STORAGES:
        message = f"{name} is copied from {storage}://, of which no revision is recorded: the job would wait for ever."
        hint = "Remove `revision`, or use `source.s3` if the storage speaks its protocol."
    elif listed and not of_listing:
        message = f"{name} is copied from an S3 store, which has no commits: the job would wait for ever."
        hint = f"Give the hash of the listing that a sync has brought, `{LISTING}…`: {show}"
    elif not listed and of_listing:
        message = f"{name} is copied from a repository, whose revisions are commits: the job would wait for ever."
        hint = f"Give the commit that a sync has brought: {show}"
    elif not fixed or fixed == wanted or not (listed or COMMIT.fullmatch(fixed)):
        return
    elif not listed:
        message = f"{name} copies the commit {fixed}, never another one: the job would wait for ever."
        hint = "Name the same commit in both places."
    else:
        message = f"{name} copies the listing {fixed}, never another one: the job would wait for ever."
        hint = "Name the same hash in both places, or write `revision: locked` here."
    yield finding("SP764", path, message, hint)


def _unlocked(model: Dataset) -> tuple[str, str]:
    """Return message and hint about a Dataset of which no revision is locked."""
    name, source = model.metadata.name, model.spec.source
    if source is None:
        return f"{name} has no source, so nothing locks a revision of it.", "Remove `revision`, or name it."
    if model.spec.refresh:
        return (
            f"{name} follows its source by `refresh`, so nothing locks a revision of it.",
            "Remove `revision`, or the `refresh` of the Dataset.",
        )
    if source.storage:
        return f"{name} is copied from another storage than S3, of which no revision is known.", "Remove `revision`."
    return (
        f"The lock file does not name what {name} is copied from, so no revision is locked.",
        "Run `stowplan pin`, and commit the lock file.",
    )
