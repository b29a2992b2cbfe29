"""The revision of a dataset that a Training waits for."""

import re
from collections.abc import Iterator

from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.training_parts import LOCKED, TrainingDataset, TrainingWait
from stowplan.schema.remotes.s3_listing import JUICEFS_STORAGES, LISTING

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def wait_of(given: TrainingDataset) -> TrainingWait | None:
    """Return what the job waits for: the field `wait`, or its default if only a revision is given; None for nothing."""
    return given.wait or (TrainingWait() if named(given) else None)


def named(given: TrainingDataset) -> str | None:
    """Return the revision that the dataset must hold; None for any. `locked` is reported as an error elsewhere."""
    return None if given.revision == LOCKED else given.revision


def findings(given: TrainingDataset, model: Dataset, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if the Dataset `model` never reports the revision, whose path in the Training is `path`.

    Of a Dataset without a source nothing is known: its volume may be filled by another one.
    """
    wanted, source = named(given), model.spec.source
    if wanted is None or source is None:
        return
    show = f"`kubectl get datasets.stowplan.dev {model.metadata.name} -o jsonpath={{.status.revision}}` shows it."
    of_listing, name = wanted.startswith(LISTING), model.metadata.name
    ref = (source.git.ref if source.git else None) or (source.huggingface.revision if source.huggingface else None)
    storage = source.storage.uri.partition("://")[0] if source.storage else None
    if storage and storage not in JUICEFS_STORAGES:
        message = f"{name} is copied from {storage}://, of which no revision is recorded: the job would wait for ever."
        hint = "Remove `revision`, or use `source.s3` if the storage speaks its protocol."
    elif (source.s3 or storage) and not of_listing:
        message = f"{name} is copied from an S3 store, which has no commits: the job would wait for ever."
        hint = f"Give the hash of the listing that a sync has brought, `{LISTING}…`: {show}"
    elif not (source.s3 or storage) and of_listing:
        message = f"{name} is copied from a repository, whose revisions are commits: the job would wait for ever."
        hint = f"Give the commit that a sync has brought: {show}"
    elif ref and ref != wanted and _COMMIT.fullmatch(ref):
        message = f"{name} copies the commit {ref}, never another one: the job would wait for ever."
        hint = "Name the same commit in both places."
    else:
        return
    yield finding("SP764", path, message, hint)
