"""What the syncs of a Dataset have in common: its first one, its refresh, and those that tasks ask for."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.volumes import registry as volumes
from stowplan.library.dialects.shared import secrets
from stowplan.library.dialects.shared.context import Context
from stowplan.library.ir.data import CachedDataset, DataTask
from stowplan.schema.agents.agent_config import DEFAULT_MAX_DELETE
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, without_effect
from stowplan.schema.juicefs.options import WITHOUT_TIMES
from stowplan.schema.juicefs.sync_options import SyncOptions
from stowplan.schema.kinds.native.dataset import Refresh
from stowplan.schema.kinds.native.dataset_task import SyncTask

Deletion = Refresh | SyncTask
"""A model with the fields of a sync about the deletion of files that the source no longer has."""


def deleting(sync: DataTask, given: Deletion) -> DataTask:
    """Return a sync that deletes what the source no longer has, if `given` asks for it."""
    if not given.delete:
        return sync
    most = DEFAULT_MAX_DELETE if given.max_delete is None else given.max_delete
    return sync._replace(sync_options=SyncOptions.model_validate({"delete-dst": True}), max_delete=most)


def home(dataset: CachedDataset, context: Context) -> tuple[str, list[Finding]]:
    """Return the namespace of the Job of a sync, and findings at paths in the Dataset if none is possible.

    A transfer mounts the dataset, so it is in the dataset's namespace. `juicefs sync` is in that of the Secrets of the
    volume and the source, which must be one. With findings there is no Job.
    """
    own, source = dataset.names.namespace, dataset.source
    if source is None or source.remote or not dataset.cached:
        return own, []
    path: FieldPath = (*volumes.path_of(dataset), "secretRef", "namespace")
    return secrets.sync_namespace(own, dataset.volume_secret, source.secret, context.platform, path)


def findings(given: Deletion, dataset: CachedDataset, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about a later sync of a Dataset with a source, at `path` in a document: its deletions, and gaps.

    `dataset` is what the Dataset describes.
    """
    storage = dataset.source.uri.partition("://")[0] if dataset.source and dataset.source.direct else ""
    if storage in WITHOUT_TIMES:
        message = f"{storage}:// has no modification times: what is replaced by as many bytes is not copied again."
        hint = "Give an object another key when it changes. A SampleJob with `check-all` compares the contents."
        yield finding("SP411", path, message, hint, anchor=Anchor.KEY)
    remote = dataset.source.remote if dataset.source else None
    if given.delete and not (remote and remote.endpoint.MIRRORS):
        message = "Only of a source `s3` does a sync know which files are gone."
        hint = "Remove `delete`: files that the source no longer has remain."
        yield finding("SP464", (*path, "delete"), message, hint)
    elif given.delete and not dataset.directory:
        message = "`delete` would delete whatever else the volume holds: the data is at its root."
        hint = "Give the data a directory: `subPath` of the Dataset's volume."
        yield finding("SP497", (*path, "delete"), message, hint)
    if given.max_delete is not None and not given.delete:
        message = "`maxDelete` has no effect without `delete`."
        yield without_effect((*path, "maxDelete"), message, "Remove one of the two.")
