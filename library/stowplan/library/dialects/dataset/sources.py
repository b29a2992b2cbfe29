"""Rules of a Dataset's source."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.dataset.places import registry as places
from stowplan.library.dialects.shared import source_uri
from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.remotes.registry import SOURCES

PATH: FieldPath = ("spec", "source")

_ADVICE = {
    "hf": "Write it as `source.huggingface`.",
    "huggingface": "Write it as `source.huggingface`.",
    "git": "Write it as `source.git`, with its https address.",
    "ssh": "Write it as `source.git`, with its https address.",
    "jfs": "Give the URI of the object storage, or no `source` if the data is in the volume already.",
    "file": "Copy from a storage that the network reaches, or give no `source` and fill the volume by other means.",
}
"""What to do instead, by the scheme of a URI that is no storage."""


def findings(model: Dataset) -> Iterator[Finding]:
    """Yield findings about the source of a Dataset."""
    source = model.spec.source
    if source is None:
        return
    blocks = {name: getattr(source, name) for name in SOURCES}
    yield from exactly_one({**blocks, "storage": source.storage}, PATH, "A dataset has one source")
    for name, place in blocks.items():
        if place is not None:
            yield from places.findings(name, place, (*PATH, name))
            yield from places.PLACES[name].of_source(place, (*PATH, name))
    if source.storage:
        yield from source_uri.findings(source.storage.uri, (*PATH, "storage", "uri"), _ADVICE)
        if source.storage.secret_ref:
            yield from places.secret(source.storage.secret_ref, (*PATH, "storage", "secretRef"))
