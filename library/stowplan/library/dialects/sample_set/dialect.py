"""The dialect of the kind SampleSet."""

from collections.abc import Iterator

from stowplan.library.dialects.reading.api import Reading, addresses
from stowplan.library.dialects.reading.progress import cached
from stowplan.library.dialects.sample_set import claim
from stowplan.library.dialects.sample_set.sample_set import cached_dataset, driver_of, lower
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.claim_rules import single_node
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations, SecretKeys
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset
from stowplan.library.manifest import Unit
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.sample_set import SampleSet


def relations(model: SampleSet, context: Context) -> Relations:
    """Return what the dataset shares with other specs: its cache directories, or its claim if it has no cache."""
    if driver_of(model).cached:
        dataset = cached_dataset(model, context)
        return Relations(caches=tuple(_caches(model, dataset, context)), write=_write(dataset))
    own = claim.of_set(model)
    return Relations(
        write=claim.write(model, context.namespace(model.metadata.namespace)),
        claim=own.name,
        named=claim.named(model),
        single=single_node(own.template, claim.TEMPLATE),
    )


def _caches(model: SampleSet, dataset: CachedDataset, context: Context) -> Iterator[tuple[str, FieldPath]]:
    for directory in STORAGE_DRIVERS[dataset.driver].cache_directories(dataset, context.site):
        yield directory, _directory_path(model, directory)


def _write(dataset: CachedDataset) -> Write:
    """Return the directory of the volume that the dataset's sync fills."""
    secret, sub_dir = dataset.volume_secret, dataset.options.sub_dir or ""
    at: FieldPath = ("spec", "csi", "juiceFSMountOptions", "sub-dir") if sub_dir else ("spec", "secretRef", "name")
    uri = (dataset.source and dataset.source.uri) or ""
    path = claim_paths.canonical(sub_dir)
    return Write(
        secret.namespace, secret.name, path, mirror=False, at=at, writes=bool(uri), dataset=uri, by_secret=True
    )


def _directory_path(model: SampleSet, directory: str) -> FieldPath:
    """Return the path of the field that names a cache directory; for the default one, the field that could name it."""
    levels = model.spec.cache.levels or [] if model.spec.cache else []
    for index, level in enumerate(levels):
        if directory in (level.path or "").split(":"):
            return ("spec", "cache", "levels", index, "path")
    options = model.spec.csi.juice_fs_mount_options if model.spec.csi else None
    if options and options.cache_dir:
        return ("spec", "csi", "juiceFSMountOptions", "cache-dir")
    return ("spec", "cache", "levels")


READING = Reading(
    sources=addresses("spec", "source", "uri"),
    progress=cached,
)


def _secrets(_: SampleSet, unit: Unit) -> Iterator[SecretKeys]:
    return (SecretKeys(each, ("spec", "secretRef", "name")) for each in unit.externals)


DIALECT = Dialect(lower, relations, reading=READING, secrets=_secrets)
