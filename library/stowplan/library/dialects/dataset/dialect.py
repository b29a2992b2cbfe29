"""The dialect of the kind Dataset."""

from collections.abc import Iterator
from dataclasses import replace

from stowplan.library.dialects.dataset import locked, sources
from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.dataset.lower import lower
from stowplan.library.dialects.dataset.places import reading as places
from stowplan.library.dialects.dataset.volumes import registry as volumes
from stowplan.library.dialects.reading.api import Reading, loss_if
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.library.dialects.reading.progress import cached
from stowplan.library.dialects.shared.claim_rules import single_node
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
    own = Relations(write=_write(model, dataset), revision=locked.revision_of(model) or "")
    if dataset.cached:
        return replace(own, caches=tuple(_caches(model, dataset, context)))
    named = () if dataset.claim.template else ((dataset.claim.name, (*volumes.path_of(dataset), "name")),)
    single = single_node(dataset.claim.template, (*volumes.path_of(dataset), "template"))
    return replace(own, named=named, claim=dataset.claim.name, single=single)


def _caches(model: Dataset, dataset: CachedDataset, context: Context) -> Iterator[tuple[str, FieldPath]]:
    given = (model.spec.cache and model.spec.cache.tiers) or ()
    path: FieldPath = ("spec", "cache")
    for index, directory in enumerate(STORAGE_DRIVERS[dataset.driver].cache_directories(dataset, context.site)):
        yield directory, (*path, "tiers", index, "path") if given else path


def _write(model: Dataset, dataset: CachedDataset) -> Write:
    """Return the directory of the volume that holds the data."""
    given, source, refresh = model.spec.volume.given, dataset.source, model.spec.refresh
    base, secret, claim = volumes.path_of(dataset), dataset.volume_secret, dataset.claim
    return Write(
        secret.namespace,
        secret.name or claim.name,
        dataset.directory,
        mirror=bool(refresh and refresh.delete),
        at=(*base, "subPath") if given and given[1].sub_path is not None else base,
        template=(*base, "template") if claim.template else (),
        writes=source is not None,
        dataset=source.uri if source else "",
        by_secret=bool(secret.name),
        native=True,
    )


def _pins(document: Json) -> Iterator[FloatingReference]:
    """Yield what can be pinned of the source, unless a refresh follows it."""
    if not any(each for each, _ in values(document, "spec", "refresh")):
        yield from places.pins(document, "spec", "source")


READING = Reading(
    sources=places.addresses("spec", "source"),
    pins=_pins,
    loss=loss_if("Its refresh deletes what the source lacks.", "spec", "refresh", "delete"),
    progress=cached,
)


def _secrets(model: Dataset, unit: Unit) -> Iterator[SecretKeys]:
    (place,) = model.spec.source.model_dump(exclude_none=True) if model.spec.source else ("",)
    given = model.spec.volume.given
    for each in unit.externals:
        volume = given and each.keys == VOLUME_SECRET_KEYS
        base = ("spec", "volume", given[0].field) if given and volume else (*sources.PATH, place)
        yield SecretKeys(each, (*base, "secretRef", "name"))


DIALECT = Dialect(lower, relations, reading=READING, secrets=_secrets)
