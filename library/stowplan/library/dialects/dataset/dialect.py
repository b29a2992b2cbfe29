"""The dialect of the kind Dataset."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset import locked, sources, volumes
from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.dataset.lower import lower
from stowplan.library.dialects.reading import native_places
from stowplan.library.dialects.reading.api import Reading, loss_if
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.library.dialects.reading.progress import cached
from stowplan.library.dialects.shared.claim_rules import is_single_node
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations, SecretKeys
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset
from stowplan.library.manifest import Json, Unit
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.juicefs.options import VOLUME_SECRET_KEYS
from stowplan.schema.kinds.kind import values
from stowplan.schema.kinds.native.dataset import Dataset


def relations(model: Dataset, context: Context) -> Relations:
    """Return what a Dataset shares with other specs: its directory of a volume, and its cache directories or claim."""
    dataset = cached_dataset(model, context)
    revision = locked.revision_of(model) or ""
    if model.spec.volume.juicefs:
        caches = tuple(_caches(model, dataset, context))
        return Relations(caches=caches, write=_write(model, dataset), revision=revision)
    claim = model.spec.volume.claim
    named = ((claim.name, (*volumes.CLAIM, "name")),) if claim and claim.name else ()
    return Relations(
        named=named,
        write=_write(model, dataset),
        claim=dataset.claim.name,
        single=_single(dataset),
        revision=revision,
    )


def _caches(model: Dataset, dataset: CachedDataset, context: Context) -> Iterator[tuple[str, FieldPath]]:
    given = (model.spec.cache and model.spec.cache.tiers) or ()
    path: FieldPath = ("spec", "cache")
    for index, directory in enumerate(STORAGE_DRIVERS[dataset.driver].cache_directories(dataset, context.site)):
        yield directory, (*path, "tiers", index, "path") if given else path


def _write(model: Dataset, dataset: CachedDataset) -> Write:
    """Return the directory of the volume that holds the data."""
    volume, source, refresh = model.spec.volume, dataset.source, model.spec.refresh
    given = volume.juicefs or volume.claim
    base = volumes.JUICEFS if volume.juicefs else volumes.CLAIM
    secret, claim = dataset.volume_secret, dataset.claim
    return Write(
        secret.namespace if volume.juicefs else dataset.names.namespace,
        (secret.name if volume.juicefs else claim.name),
        (dataset.options.sub_dir or "") if volume.juicefs else claim.sub_path,
        mirror=bool(refresh and refresh.delete),
        at=(*base, "subPath") if given and given.sub_path is not None else base,
        template=(*volumes.CLAIM, "template") if claim.template else (),
        writes=source is not None,
        dataset=source.uri if source else "",
        by_secret=volume.juicefs is not None,
        native=True,
    )


def _single(dataset: CachedDataset) -> FieldPath:
    """Return the path of the template's access modes if only one cluster node can mount the claim, else `()`."""
    modes = ((dataset.claim.template or {}).get("spec") or {}).get("accessModes")
    return (*volumes.CLAIM, "template", "spec", "accessModes") if is_single_node(modes) else ()


def _pins(document: Json) -> Iterator[FloatingReference]:
    """Yield what can be pinned of the source, unless a refresh follows it."""
    if not any(each for each, _ in values(document, "spec", "refresh")):
        yield from native_places.pins(document, "spec", "source")


READING = Reading(
    sources=native_places.addresses("spec", "source"),
    pins=_pins,
    loss=loss_if("Its refresh deletes what the source lacks.", "spec", "refresh", "delete"),
    progress=cached,
)


def _secrets(model: Dataset, unit: Unit) -> Iterator[SecretKeys]:
    (place,) = model.spec.source.model_dump(exclude_none=True) if model.spec.source else ("",)
    for each in unit.externals:
        base = volumes.JUICEFS if each.keys == VOLUME_SECRET_KEYS else (*sources.PATH, place)
        yield SecretKeys(each, (*base, "secretRef", "name"))


DIALECT = Dialect(lower, relations, reading=READING, secrets=_secrets)
