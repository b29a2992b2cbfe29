"""Rules of a `Dataset` that its model cannot express."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset import syncs
from stowplan.library.dialects.dataset.cached import mebibytes
from stowplan.library.dialects.shared import dataset_objects, schedules
from stowplan.library.dialects.training_group.label_form import label_findings
from stowplan.library.ir.data import CachedDataset
from stowplan.library.values import inner_paths
from stowplan.library.values.names import MOST_PODS, is_dns_label
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, without_effect
from stowplan.schema.kinds.native.dataset import CacheTier, Dataset, DatasetCache

_CACHE: FieldPath = ("spec", "cache")
_REFRESH: FieldPath = ("spec", "refresh")


def findings(model: Dataset, dataset: CachedDataset) -> Iterator[Finding]:
    """Yield findings about cache and refresh. `dataset` is what the Dataset describes."""
    yield from _cache(model, dataset)
    yield from _refresh(model, dataset)
    if dataset.partitions:
        yield from _name(dataset)


def _cache(model: Dataset, dataset: CachedDataset) -> Iterator[Finding]:
    cache = model.spec.cache
    if cache is None:
        return
    if not dataset.cached:
        message = "Nodes cache JuiceFS volumes alone; this dataset is in a claim."
        hint = "Remove `cache`, or keep the data in a JuiceFS volume: `volume.juicefs`."
        yield finding("SP462", _CACHE, message, hint, anchor=Anchor.KEY)
        return
    if cache.nodes > MOST_PODS:
        message = f"Found {cache.nodes} nodes; a cluster has at most {MOST_PODS}."
        yield finding("SP205", (*_CACHE, "nodes"), message, "Give the number of nodes that cache the data.")
    for index, tier in enumerate(cache.tiers or ()):
        yield from _tier(tier, (*_CACHE, "tiers", index))
    yield from label_findings(cache.node_selector or {}, (*_CACHE, "nodeSelector"))
    yield from _warmup(cache)


def _tier(tier: CacheTier, path: FieldPath) -> Iterator[Finding]:
    size = mebibytes(tier.size)
    if size is None:
        message = f'"{tier.size}" is not a quantity.'
        yield finding("SP206", (*path, "size"), message, "Write for example `200Gi`.")
    elif size < 1:
        message = f"Found {tier.size}; a cache has at least 1Mi."
        yield finding("SP205", (*path, "size"), message, "Write for example `200Gi`.")
    if ":" in tier.path:
        message = f'"{tier.path}" holds a `:`, by which JuiceFS separates directories.'
        yield finding("SP405", (*path, "path"), message, "Give each directory a tier of its own.")


def _warmup(cache: DatasetCache) -> Iterator[Finding]:
    for index, each in enumerate(cache.warmup_paths or ()):
        problem = inner_paths.problem(each, "dataset")
        if not each.strip("/."):
            problem = f'"{each}" names nothing below the root of the dataset.', "Name a path."
        if problem:
            yield finding("SP405", (*_CACHE, "warmupPaths", index), *problem)
    if cache.warmup_paths and cache.warmup == "none" and "warmup" in cache.model_fields_set:
        message = "`warmup: none` has no effect together with `warmupPaths`, which are loaded."
        yield without_effect((*_CACHE, "warmup"), message, "Remove one of the two.")


def _refresh(model: Dataset, dataset: CachedDataset) -> Iterator[Finding]:
    refresh = model.spec.refresh
    if refresh is None:
        return
    yield from schedules.findings(refresh.schedule, refresh.time_zone, {}, base=_REFRESH)
    if not model.spec.source:
        message = "Without a `source` there is nothing to copy again."
        yield without_effect(_REFRESH, message, "Remove it, or add a source.")
        return
    yield from syncs.findings(refresh, dataset, _REFRESH)


def _name(dataset: CachedDataset) -> Iterator[Finding]:
    """Yield findings about a name that the Service or the StatefulSet of the cache pods cannot have."""
    name = dataset.names.name
    if not is_dns_label(name) or not name[0].isalpha():
        message = f'"{name}" cannot name the Service of a Dataset with a cache.'
        hint = "Use lower-case letters, digits and `-`, beginning with a letter and not ending in `-`."
        yield finding("SP210", ("metadata", "name"), message, hint)
    else:
        yield from dataset_objects.long_name(dataset.names)
