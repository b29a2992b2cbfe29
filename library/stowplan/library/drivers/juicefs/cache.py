"""The directories and the size of the cache of a cluster node."""

from collections.abc import Sequence
from dataclasses import dataclass

from stowplan.library.ir.data import CachedDataset, Site
from stowplan.schema.diagnostics import Finding, Severity, finding, without_effect
from stowplan.schema.platform import cache_directories

MEMORY = "memory"
"""JuiceFS' value for a cache in the client's memory, instead of directories."""


@dataclass(frozen=True, slots=True)
class Cache:
    """The cache of one cluster node: host directories, and the size of all directories together in MiB."""

    directories: tuple[str, ...]
    size_mib: int


def resolve(dataset: CachedDataset, site: Site) -> Cache:
    """Return directories and size of the cache, with the old operator's precedence: tiers, mount options, a default.

    The default directory is that of the old operator. The default size is that of the platform file; the old operator
    had 1 PiB, in effect no limit.

    A dataset that no cluster node caches has a cache of size 0 in memory, with which JuiceFS caches nothing.
    """
    options = dataset.options
    if not dataset.partitions:
        return Cache((MEMORY,), 0)
    from_tiers = tuple(d for tier in dataset.tiers for d in tier.directories)
    from_option = tuple(part for part in (options.cache_dir or "").split(":") if part)
    size = sum(tier.size_mib for tier in dataset.tiers if tier.size_mib > 0)
    return Cache(
        from_tiers or from_option or (default_directory(dataset.names.name),),
        size or options.cache_size or site.platform.juicefs.cache_size,
    )


def memory_directories(dataset: CachedDataset) -> list[str]:
    """Return the directories of tiers with `mediumType: MEM`, without those below `/dev/shm`, which always are.

    The agent recognises the latter by their path.
    """
    found = [d for tier in dataset.tiers if tier.in_memory for d in tier.directories]
    return [d for d in found if not cache_directories.is_shared_memory(d)]


def default_directory(name: str) -> str:
    """Return the default directory of the cache, as in the old operator: in memory, with the lower-case `name`."""
    return f"/dev/shm/{name.lower()}"  # noqa: S108 - a path on the node


def findings(dataset: CachedDataset, site: Site) -> list[Finding]:
    """Return findings about the cache's directories and size."""
    if not dataset.partitions:
        return []
    allowed = site.platform.juicefs.cache_directories
    found = [*_tiers(dataset, allowed), *_directories_of_option(dataset, allowed), *_default(dataset, allowed)]
    found += _precedence(dataset)
    if not any(tier.size_mib for tier in dataset.tiers) and not dataset.options.cache_size:
        size = site.platform.juicefs.cache_size
        message = f"No cache size is given, so each node caches up to {size} MiB."
        hint = f"Give {dataset.fields.sizes}, or `juicefs.cacheSize` in the platform file."
        found.append(finding("SP411", dataset.fields.tiers[:-1], message, hint))
    return found


def _tiers(dataset: CachedDataset, allowed: Sequence[str]) -> list[Finding]:
    found = []
    for index, tier in enumerate(dataset.tiers):
        path = (*dataset.fields.tiers, index)
        if tier.size_mib < 0:
            message = f"The size is {tier.size_mib} MiB; it must not be negative."
            found.append(finding("SP205", (*path, dataset.fields.size), message, "Give the tier's size in MiB."))
        if not tier.directories:
            message = "The tier has no path, so it adds its size to the others but no directory."
            found.append(finding("SP406", path, message, "Give `path`, or add the size to another tier."))
        found += [each for d in tier.directories for each in cache_directories.findings(d, (*path, "path"), allowed)]
    return found


def _directories_of_option(dataset: CachedDataset, allowed: Sequence[str]) -> list[Finding]:
    option = dataset.options.cache_dir
    if not option or option == MEMORY:
        return []
    path = (*dataset.fields.options, "cache-dir")
    return [each for d in option.split(":") if d for each in cache_directories.findings(d, path, allowed)]


def _default(dataset: CachedDataset, allowed: Sequence[str]) -> list[Finding]:
    """Return a finding if the cache uses the default directory and the list `allowed` of the platform file lacks it."""
    if dataset.options.cache_dir or any(tier.directories for tier in dataset.tiers):
        return []
    return cache_directories.findings(default_directory(dataset.names.name), dataset.fields.tiers[:-1], allowed)


def _precedence(dataset: CachedDataset) -> list[Finding]:
    mount = dataset.fields.options
    has_directories = any(tier.directories for tier in dataset.tiers)
    has_sizes = any(tier.size_mib > 0 for tier in dataset.tiers)
    found = []
    for key, value, overruled in (
        ("cache-dir", dataset.options.cache_dir, has_directories),
        ("cache-size", dataset.options.cache_size, has_sizes),
    ):
        if value and overruled:
            message = f'"{key}" has no effect together with `cache.levels`, which takes precedence.'
            found.append(without_effect((*mount, key), message, "Remove one of the two."))
    if dataset.options.cache_dir and not has_directories and not _directories_of_option(dataset, ()):
        message = "The directory is used as it is: the name of the dataset is not appended to it."
        if dataset.names.profile == "upstream":
            hint = "An adopted volume keeps the old directory: write here what it has, or re-create the volume."
            found.append(finding("SP411", (*mount, "cache-dir"), message, hint, severity=Severity.WARNING))
        else:
            hint = "Nothing to do, unless old cache data matters."
            found.append(finding("SP411", (*mount, "cache-dir"), message, hint))
    return found
