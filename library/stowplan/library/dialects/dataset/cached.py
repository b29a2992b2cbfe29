"""A `Dataset` as the value that drivers, builders and other kinds know."""

from decimal import ROUND_FLOOR

from stowplan.library.dialects.dataset.places import registry as places
from stowplan.library.dialects.dataset.volumes import registry as volumes
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.context import Context
from stowplan.library.ir.data import CachedDataset, DatasetFields, Placement, SecretName, Source, Tier
from stowplan.library.values.names import MOST_PODS, DatasetNames
from stowplan.library.values.quantities import amount
from stowplan.schema.agents.agent_config import DEFAULT_MAX_DELETE
from stowplan.schema.drivers.table import DRIVERS
from stowplan.schema.kinds.native.dataset import CacheTier, Dataset, DatasetSource
from stowplan.schema.meta import RUN_ANNOTATION, SpecId
from stowplan.schema.platform.platform import Platform

KIND = "Dataset"
WORD = "dataset"

CACHE_ROOT = "/var/jfsCache"
"""Directory of JuiceFS' own for caches, if the platform does not list others."""

_FIELDS = {
    driver.name: DatasetFields(
        options=("spec", "volume", driver.field, "options"),
        tiers=("spec", "cache", "tiers"),
        source=("spec", "source", "storage", "uri"),
        size="size",
        sizes="`cache.tiers[].size`",
    )
    for driver in DRIVERS.values()
}

_MEBIBYTE = 1 << 20


def cached_dataset(model: Dataset, context: Context) -> CachedDataset:
    """Return the dataset that a Dataset describes, even if the Dataset has errors."""
    namespace, name = context.namespace(model.metadata.namespace), model.metadata.name
    driver, held = volumes.driver_of(model), volumes.held(model, namespace)
    cache = model.spec.cache
    source = _source(model.spec.source, namespace, held.secret)
    placement = Placement()
    if cache:
        placement = Placement(cache.affinity, tuple(cache.tolerations or ()), cache.node_selector)
    # JuiceFS' control file, which a warmup needs, cannot be opened on a mount that is read-only.
    asked = bool(cache and driver.cached and (cache.warmup_paths or cache.warmup == "all"))
    warms = asked and not held.options.read_only
    return CachedDataset(
        origin=context.origin(SpecId(KIND, namespace, name)),
        names=DatasetNames(namespace, name, "namespaced", WORD),
        fields=_FIELDS[driver.name],
        driver=driver.name,
        claim=held.claim,
        volume_secret=held.secret,
        partitions=min(cache.nodes, MOST_PODS) if cache and driver.cached else 0,
        tiers=_tiers(model, namespace, context.platform) if cache and driver.cached else (),
        placement=placement,
        options=held.options,
        source=source,
        warmed=source is not None and warms,
        warms=warms,
        run=model.metadata.annotations.get(RUN_ANNOTATION, ""),
        warmup_paths=tuple(map(claim_paths.canonical, (cache.warmup_paths if cache else None) or ())),
        retained=model.spec.retain is not False,
        volume=model.spec.volume.given[1] if model.spec.volume.given else None,
    )


def _tiers(model: Dataset, namespace: str, platform: Platform) -> tuple[Tier, ...]:
    given = model.spec.cache.tiers if model.spec.cache else None
    if given:
        return tuple(_tier(each) for each in given)
    root = next(iter(platform.juicefs.cache_directories), CACHE_ROOT).rstrip("/")
    return (Tier((f"{root}/{namespace}.{model.metadata.name}",), platform.juicefs.cache_size),)


def _tier(tier: CacheTier) -> Tier:
    return Tier((tier.path,), mebibytes(tier.size) or 0, in_memory=tier.medium == "Memory")


def mebibytes(size: str) -> int | None:
    """Return a quantity in MiB, rounded down; None for an invalid one."""
    number = amount(size)
    return None if number is None else int((number / _MEBIBYTE).to_integral_value(ROUND_FLOOR))


def _source(given: DatasetSource | None, namespace: str, volume: SecretName) -> Source | None:
    """Return the source of the data; None without one. `juicefs sync` reads `storage`, the transfer agent the others.

    A `storage` without a Secret is public, so its sync may run where the Secret `volume` of the JuiceFS volume is.
    """
    if given is None:
        return None
    most = DEFAULT_MAX_DELETE if given.max_delete is None else given.max_delete
    if given.storage:
        reference = given.storage.secret_ref
        secret = SecretName(namespace, reference.name) if reference else SecretName(volume.namespace, "")
        # With the slash, `juicefs sync` copies a directory; without it, also `train-2/x` for the prefix `train`.
        include, exclude = (
            None if patterns is None else tuple(patterns) for patterns in (given.storage.include, given.storage.exclude)
        )
        uri = f"{given.storage.uri.rstrip('/')}/"
        return Source(uri, secret, direct=True, max_delete=most, include=include, exclude=exclude)
    if given.given is None:
        return None
    name, place = given.given
    secret = SecretName(namespace, place.secret_ref.name if place.secret_ref else "")
    return Source(place.address, secret, places.remote_of(name, place, namespace), max_delete=most)
