"""Datasets whose source moves: what earlier syncs brought goes, and jobs that mount the data see that."""

from collections.abc import Iterator, Sequence
from typing import Any

from stowplan.compiler.checks.objects.pods import pods_anywhere
from stowplan.compiler.diff.change import Action, Danger, Pair, Risk
from stowplan.compiler.kubernetes.fields import identity, mapping
from stowplan.compiler.model import OutputFile
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.kinds.table import DATASET_KINDS, TRAINING_KINDS
from stowplan.schema.remotes.registry import SOURCES

_SHOWN = 3
"""Maximum number of jobs that a sentence names."""

PLACE = {**{name: place.IDENTITY for name, place in SOURCES.items()}, "storage": ("uri",)}
"""Fields below `spec.source` of a Dataset that say what is copied; of a SampleSet, `uri` does. A test looks them up."""


def moved(pairs: Sequence[Pair], outputs: Sequence[OutputFile]) -> dict[str, Risk]:
    """Return a risk for each dataset whose source is another one, by path of its custom resource."""
    found = {}
    for pair in pairs:
        places = [_place(body) for body in (pair.before, pair.after) if body]
        if pair.kind in DATASET_KINDS and pair.after and len(places) == 2 and all(places) and places[0] != places[1]:
            found[pair.path] = Risk(Danger.DATA, f"{_TEXT} {_jobs(pair.after, pairs, outputs)}")
    return found


_TEXT = "Its source moves: what earlier syncs brought and the new source lacks is deleted."


def _place(body: Json) -> list[Any]:
    source = mapping(body, "spec", "source")
    own = [source["uri"]] if "uri" in source else []
    given = [(kind, mapping(source, kind), fields) for kind, fields in PLACE.items() if kind in source]
    return own + [(kind, field, place.get(field)) for kind, place, fields in given for field in fields]


def _jobs(dataset: Json, pairs: Sequence[Pair], outputs: Sequence[OutputFile]) -> str:
    """Return a sentence about the jobs that mount the dataset."""
    claims = set(_claims(dataset, outputs))
    names = sorted({owner for output in outputs for owner in _mounting(output.manifest.body, claims)})
    again = {
        _owner(pair.after)
        for pair in pairs
        if pair.action is Action.REPLACED and pair.kind in STARTING_KINDS and pair.after
    }
    if not names:
        return "No job mounts it."
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    listed = ", ".join(name for _, name in names[:_SHOWN]) + more
    what = "1 job mounts it" if len(names) == 1 else f"{len(names)} jobs mount it"
    count = len(again.intersection(names))
    return f"{what} ({listed}); {count or 'none'} starts again."


def _claims(dataset: Json, outputs: Sequence[OutputFile]) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of the claims that hold the dataset."""
    own = identity(dataset)
    if name := mapping(dataset, "spec", "volume", "claim").get("name"):
        yield own.namespace, str(name)
    for output in outputs:
        body = output.manifest.body
        if body.get("kind") == "PersistentVolumeClaim" and _owner(body) == (own.kind, own.name):
            yield identity(body).namespace, identity(body).name


def _mounting(body: Json, claims: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the job that an object belongs to, if its pods mount one of the claims."""
    owner, namespace = _owner(body), identity(body).namespace
    if owner[0] not in TRAINING_KINDS:
        return
    for pod in pods_anywhere(body):
        for volume in pod.volumes:
            if (namespace, mapping(volume, "persistentVolumeClaim").get("claimName")) in claims:
                yield owner


def _owner(body: Json | None) -> tuple[str, str]:
    own = mapping(body or {}, "metadata", "labels")
    return str(own.get(labels.SPEC_KIND, "")), str(own.get(labels.SPEC_NAME, ""))
