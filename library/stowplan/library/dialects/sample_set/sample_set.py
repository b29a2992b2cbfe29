"""Lowering of `SampleSet`: a dataset in a volume, its cache pods if it has any, and the Jobs that fill it."""

from collections.abc import Iterator
from itertools import islice

from stowplan.library.builders import job
from stowplan.library.dialects.sample_set import claim, sync_namespace
from stowplan.library.dialects.shared import dataset_objects, secrets, source_uri
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import (
    CachedDataset,
    Claim,
    DatasetFields,
    Placement,
    SecretName,
    Site,
    Source,
    Tier,
)
from stowplan.library.manifest import Part, Unit
from stowplan.library.values import labels
from stowplan.library.values.names import DatasetNames
from stowplan.schema.diagnostics import Finding, finding, has_errors, without_effect
from stowplan.schema.drivers.table import DEFAULT_DRIVER, DRIVERS, Driver
from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.kinds.sample_set import CacheLevel, SampleSet
from stowplan.schema.meta import MOST_NODES, RUN_ANNOTATION, SpecId

FIELDS = DatasetFields(
    options=("spec", "csi", "juiceFSMountOptions"),
    tiers=("spec", "cache", "levels"),
    source=("spec", "source", "uri"),
    size="cacheSize",
    sizes="`cache.levels[].cacheSize` in MiB",
)

_NO_OPTIONS = MountOptions()

MOST_PARTITIONS = MOST_NODES
"""Maximum number of partitions. Each is one cluster node and one warmup Job."""


def lower(model: SampleSet, context: Context) -> Lowered:
    """Return all manifests of a SampleSet (none if it has errors) and all findings."""
    dataset = cached_dataset(model, context)
    spec = dataset.origin.spec
    driver = STORAGE_DRIVERS[dataset.driver]
    found = [*_secret_names(model), *_source(model), *_warmup(model, dataset), *_dead(model)]
    found += [*_required(model), *dataset_objects.long_name(dataset.names)] if dataset.cached else []
    found += claim.of_another_driver(model) if dataset.cached else claim.findings(model, spec.namespace)
    found += driver.validate(dataset, context.site)
    refused = _elsewhere(dataset, context) if dataset.cached else []
    home, problems = _sync_namespace(dataset, context)
    found += refused or problems
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    parts = tuple(_parts(model, dataset, home, context.site))
    return Lowered(Unit(spec, parts, sync_namespace.externals(dataset, dataset.source)), tuple(found))


def driver_of(model: SampleSet) -> Driver:
    """Return the driver that a SampleSet names, or the default driver."""
    csi = model.spec.csi
    return DRIVERS[(csi and csi.driver) or DEFAULT_DRIVER]


def cached_dataset(model: SampleSet, context: Context) -> CachedDataset:
    """Return the dataset that a SampleSet describes, even if the SampleSet has errors."""
    namespace, name = context.namespace(model.metadata.namespace), model.metadata.name
    spec = model.spec
    csi = spec.csi
    driver = driver_of(model)
    volume = secrets.resolve(spec.secret_ref, SecretName(namespace, ""))
    identity = SpecId("SampleSet", namespace, name)
    uri = spec.source.uri if spec.source else None
    options = (csi.juice_fs_mount_options if csi else None) or _NO_OPTIONS
    source = Source(uri, secrets.resolve(spec.source.secret_ref, volume)) if uri and spec.source else None
    synced = source is not None and not spec.no_sync
    asked = spec.warmup_after_sync
    warms = context.platform.juicefs.warmup_after_sync if asked is None else asked
    warms = warms and driver.cached and not options.read_only
    return CachedDataset(
        origin=context.origin(identity),
        names=DatasetNames(namespace, name, context.platform.names),
        fields=FIELDS,
        driver=driver.name,
        claim=Claim(name) if driver.cached else claim.of_set(model),
        volume_secret=volume,
        partitions=min(spec.partitions or 1, MOST_PARTITIONS),
        tiers=tuple(_tier(level) for level in (spec.cache.levels or [] if spec.cache else [])),
        placement=Placement(spec.node_affinity, tuple(spec.tolerations or ())),
        options=options,
        source=source if synced else None,
        warmed=synced and warms,
        warms=warms,
        run=model.metadata.annotations.get(RUN_ANNOTATION, ""),
        labels=labels.legacy_dataset(name),
    )


def _tier(level: CacheLevel) -> Tier:
    directories = tuple(part for part in (level.path or "").split(":") if part)
    return Tier(directories, level.cache_size or 0, in_memory=level.medium_type == "MEM")


def _required(model: SampleSet) -> list[Finding]:
    spec = model.spec
    found = []
    if spec.partitions is None:
        message = "`partitions` is missing; it has no default."
        hint = "Give the number of nodes that cache the dataset, 1 or more."
        found.append(finding("SP404", ("spec", "partitions"), message, hint))
    elif spec.partitions > MOST_PARTITIONS:
        message = f"Found {spec.partitions} partitions; a cluster has at most {MOST_PARTITIONS} nodes."
        hint = "Give the number of nodes that cache the dataset."
        found.append(finding("SP205", ("spec", "partitions"), message, hint))
    if not spec.secret_ref or not spec.secret_ref.name:
        path = ("spec", "secretRef", "name")
        message = "`secretRef.name` is missing; it names the Secret of the JuiceFS volume."
        found.append(finding("SP401", path, message, "Name a Secret with the keys name, metaurl, storage and bucket."))
    return found


def _secret_names(model: SampleSet) -> list[Finding]:
    found = secrets.name_findings(model.spec.secret_ref, ("spec", "secretRef"))
    if model.spec.source:
        found += secrets.name_findings(model.spec.source.secret_ref, ("spec", "source", "secretRef"))
    return found


def _source(model: SampleSet) -> list[Finding]:
    uri, path = model.spec.source.uri if model.spec.source else None, ("spec", "source", "uri")
    if not model.spec.no_sync:
        message = "There is no `source.uri` to copy from, and `noSync` is not true."
        hint = "Give `source.uri`, or `noSync: true` if the data is there already."
        return source_uri.findings(uri, path) if uri else [finding("SP403", path, message, hint)]
    if uri is None:
        return []
    message = "The source is not used, since `noSync` is true."
    return [without_effect(("spec", "source"), message, "Remove one of the two.")]


def _warmup(model: SampleSet, dataset: CachedDataset) -> list[Finding]:
    reasons = (
        (not dataset.cached, "no node caches the dataset"),
        (dataset.options.read_only, "the volume is mounted read-only"),
    )
    reason = next((text for holds, text in reasons if holds), "")
    if not model.spec.warmup_after_sync or not reason:
        return []
    return [without_effect(("spec", "warmupAfterSync"), f"No warmup follows, since {reason}.")]


def _dead(model: SampleSet) -> list[Finding]:
    levels = model.spec.cache.levels or [] if model.spec.cache else []
    return [
        finding(
            "SP411",
            ("spec", "cache", "levels", index, "mediumType"),
            f"`mediumType: {level.medium_type}` tells readers what the tier is made of; it changes nothing.",
            "Nothing to do.",
        )
        for index, level in enumerate(levels)
        if level.medium_type and level.medium_type != "MEM"
    ]


def _elsewhere(dataset: CachedDataset, context: Context) -> list[Finding]:
    """Return findings about Secrets in other namespaces that the platform file does not allow for the SampleSet's.

    A namespace with both the volume's and the source's Secret is reported once.
    """
    home, platform = dataset.names.namespace, context.platform
    found = secrets.elsewhere(home, dataset.volume_secret, platform, ("spec", "secretRef", "namespace"))
    if dataset.source and dataset.source.secret.namespace != dataset.volume_secret.namespace:
        path = ("spec", "source", "secretRef", "namespace")
        found += secrets.elsewhere(home, dataset.source.secret, platform, path)
    return found


def _sync_namespace(dataset: CachedDataset, context: Context) -> tuple[str, list[Finding]]:
    home = dataset.names.namespace
    if not dataset.source:
        return home, []
    of_source = dataset.volume_secret.namespace == home != dataset.source.secret.namespace
    path = ("spec", *(("source",) if of_source else ()), "secretRef", "namespace")
    return sync_namespace.namespace(dataset, dataset.source, context, path)


def _parts(model: SampleSet, dataset: CachedDataset, sync_home: str, site: Site) -> Iterator[Part]:
    yield from dataset_objects.parts(model, dataset, sync_home, site)
    filling = [dataset_objects.sync(dataset, sync_home)] if dataset.source else []
    filling += [dataset_objects.warmup(dataset)] if dataset.warmed else []
    made = [STORAGE_DRIVERS[dataset.driver].tasks(task, site, dataset.names.base) for task in filling]
    # One hash names all Jobs, so that a change of one starts all of them again.
    jobs = iter(job.jobs([task for tasks in made for task in tasks.jobs], dataset.origin, dataset.run))
    for task, tasks in zip(filling, made, strict=True):
        yield Part(task.operation, (tasks.configuration, *islice(jobs, len(tasks.jobs))))
