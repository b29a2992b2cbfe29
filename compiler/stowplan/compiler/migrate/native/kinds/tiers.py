"""The cache of a SampleSet as the tiers of a Dataset, which are always written out."""

from collections.abc import Iterator

from stowplan.compiler.migrate.native.plan import Move, Omit, Step, Write, path
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.library.drivers.juicefs.cache import default_directory
from stowplan.schema.kinds.sample_set import CacheLevel, SampleSet


def steps(model: SampleSet, scope: Scope) -> Iterator[Step]:
    """Yield the steps for the tiers: one for each directory, in the order in which JuiceFS gets the directories.

    A SampleSet adds up the sizes, and JuiceFS splits the sum evenly over all directories.
    """
    levels = (model.spec.cache.levels if model.spec.cache else None) or []
    options = model.spec.csi.juice_fs_mount_options if model.spec.csi else None
    total = sum(max(level.cache_size or 0, 0) for level in levels)
    total = total or (options.cache_size if options else None) or scope.platform.juicefs.cache_size
    if levels and all(level.cache_size and ":" not in (level.path or ":") for level in levels):
        for index, level in enumerate(levels):
            yield from _tier(index, level)
        return
    named = ":".join(level.path for level in levels if level.path) or (options.cache_dir if options else None) or ""
    directories = [each for each in named.split(":") if each] or [default_directory(model.metadata.name)]
    in_memory = {each for level in levels if level.medium_type == "MEM" for each in (level.path or "").split(":")}
    sizes = [total // len(directories) + (index < total % len(directories)) for index in range(len(directories))]
    tiers = [
        {"path": each, "size": f"{size}Mi", **({"medium": "Memory"} if each in in_memory else {})}
        for each, size in zip(directories, sizes, strict=True)
    ]
    yield Write(path("spec.cache.tiers"), tiers, path("spec.cache.levels"))


def _tier(index: int, level: CacheLevel) -> Iterator[Step]:
    old, new = f"spec.cache.levels.{index}", f"spec.cache.tiers.{index}"
    yield Move(path(f"{old}.path"), path(f"{new}.path"))
    yield Write(path(f"{new}.size"), f"{level.cache_size}Mi", path(f"{old}.cacheSize"))
    if level.medium_type == "MEM":
        yield Write(path(f"{new}.medium"), "Memory", path(f"{old}.mediumType"))
    else:
        yield Omit(path(f"{old}.mediumType"), "what is not in memory is a disk")
