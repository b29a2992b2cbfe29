"""The driver `pvc`: datasets in a PersistentVolumeClaim without a cache."""

from collections.abc import Iterator

from stowplan.library.builders import dataset_transfer
from stowplan.library.builders.dataset_transfer import Course
from stowplan.library.builders.job import TaskSet
from stowplan.library.builders.pods import agent_pod
from stowplan.library.builders.volume import claim_from_template
from stowplan.library.drivers import storage_source
from stowplan.library.drivers.api import StorageDriver
from stowplan.library.drivers.pvc import source, storage
from stowplan.library.ir.data import CachedDataset, DataTask, Remote, Site
from stowplan.library.manifest import ExternalReference, Manifest
from stowplan.schema.agents.agent_config import SOURCE_SECRET_ENV
from stowplan.schema.agents.transfer_config import Mirror
from stowplan.schema.diagnostics import Anchor, Finding, finding, without_effect
from stowplan.schema.juicefs.sync_options import SyncOptions
from stowplan.schema.remotes.remote import option_env
from stowplan.schema.remotes.s3 import S3Endpoint

_ENDPOINT, _REGION = option_env("s3-endpoint"), option_env("s3-region")


class ClaimDriver(StorageDriver):
    """Driver with claims of any storage. The transfer agent fills them, and `juicefs sync` where only it can read.

    It caches nothing, so its datasets have no cache pods, no warmup and no affinity.
    """

    def validate(self, dataset: CachedDataset, site: Site) -> list[Finding]:
        given, path = dataset.source, dataset.fields.source
        if given is None or given.remote:
            return []
        return storage_source.findings(given, path) if given.direct else source.findings(given.uri, path)

    def validate_task(self, task: DataTask, site: Site) -> list[Finding]:
        if task.operation == "sync":
            uri = task.source.uri if task.source else ""
            return [*source.findings(uri, ("spec", "syncOptions", "source")), *_options(task)]
        name = task.dataset.names.name
        message = f"{name} is a claim without caches, so there is nothing to {_VERBS[task.operation]} in it."
        if task.operation == "rmr":
            message = f"{name} is a claim, and no agent removes files from one."
        return [finding("SP455", ("spec", "type"), message, _WAYS_OUT[task.operation])]

    def volume(self, dataset: CachedDataset, site: Site) -> list[Manifest]:
        claim = dataset.claim
        if not claim.template:
            return []
        return [claim_from_template(claim.name, dataset.origin, claim.template, keep=dataset.retained)]

    def externals(self, dataset: CachedDataset) -> set[ExternalReference]:
        if dataset.claim.template:
            return set()
        return {ExternalReference("PersistentVolumeClaim", dataset.names.namespace, dataset.claim.name)}

    def tasks(self, task: DataTask, site: Site, service_account: str) -> TaskSet:
        if task.source and task.source.direct:
            return storage.task_set(task, task.source, site, service_account)
        return _by_transfer(task, site, service_account)


def _by_transfer(task: DataTask, site: Site, service_account: str) -> TaskSet:
    """Return the ConfigMap and the only Job of a sync. The source must be valid."""
    given = task.sync_options
    mirror = Mirror(maxDelete=task.max_delete) if given.delete_dst else None
    course = Course(mirror=mirror, parallelism=_threads(given))
    return dataset_transfer.task_set(task, _remote(task), course, site, service_account)


def _remote(task: DataTask) -> Remote:
    """Return the remote side of the sync: the one of the source, or the S3 store that its URI names."""
    if task.source and task.source.remote:
        return task.source.remote
    found = source.parse(task.source.uri if task.source else "", plain=bool(task.sync_options.no_https))
    if isinstance(found, str) or not task.source:
        # `validate` and `validate_task` refuse such a source.
        raise TypeError(found)
    keys = SOURCE_SECRET_ENV if task.source.secret.name else {}
    endpoint = S3Endpoint(
        uri=found.uri,
        kind="prefix",
        endpointEnv=_ENDPOINT if found.endpoint else None,
        regionEnv=_REGION if found.region else None,
        accessKeyIdEnv=keys.get("access-key"),
        secretAccessKeyEnv=keys.get("secret-key"),
        anonymous=not keys,
    )
    secret = agent_pod.secret_env(task.source.secret, SOURCE_SECRET_ENV, optional=()) if keys else ()
    values = {_ENDPOINT: found.endpoint, _REGION: found.region}
    return Remote(endpoint, (*secret, *({"name": name, "value": value} for name, value in values.items() if value)))


_VERBS = {"warmup": "warm up", "clear": "clear", "rmr": "remove"}
_WAYS_OUT = {
    "warmup": "Remove the job; pods read the claim itself.",
    "clear": "Remove the job.",
    "rmr": "Remove the files in a pod that mounts the claim, or at the source, and sync with `delete-dst: true`.",
}


_KNOWN = frozenset({"source", "destination", "threads", "delete-dst", "no-https"})
_ALWAYS = frozenset({"update", "force-update", "check-new", "check-change", "check-all", "dirs"})
"""Options without effect: the agent always fetches changed files, and verifies all files that it fetches."""

MOST_THREADS = 256
"""Largest number of concurrent requests of the transfer agent."""


def _options(task: DataTask) -> Iterator[Finding]:
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


def _threads(options: SyncOptions) -> int:
    """Return the number of concurrent requests of the transfer agent: `threads`, by default 10."""
    return min(max(options.threads or 10, 1), MOST_THREADS)
