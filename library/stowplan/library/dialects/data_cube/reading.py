"""What others read in the document of a DataCube."""

from collections.abc import Iterator
from typing import Any

from stowplan.library.dialects.reading import floating
from stowplan.library.dialects.reading.api import Address, Reading, loss_if
from stowplan.library.dialects.reading.floating import HUB, FloatingReference, Spot
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.kind import values

_ADDRESS = ("s3-uri", "repo", "url")
"""The options that say where the data is, one for each type."""

_WANTED = {"git": "ref", "huggingface": "revision"}
"""The option of a source that names its branch, by type."""

_OWN_REF = ("-b", "--branch", "--revision")
"""Arguments of the old tools by which a cube may name its branch, instead of by an option."""


def _addresses(document: Json, side: str) -> Iterator[Address]:
    for given in _mappings(document, "spec", side):
        kind, claim = str(given.get("type", "")), next(_mappings(given, "pvc"), {})
        options = {str(each.get("name")): each.get("value") for each in _mappings(given, "options", "*")}
        place = next((str(options[each]) for each in _ADDRESS if options.get(each)), "")
        names = (*_mappings(claim, "template", "metadata"), {"name": "new"})
        name = claim.get("name") or next(each["name"] for each in names if each.get("name"))
        yield Address(f"claim {name}" if kind == "pvc" else f"{kind} {place}".strip())


def _pins(document: Json) -> Iterator[FloatingReference]:
    """Yield the branch of the source, unless a schedule follows it, or a variable or an argument says what it is."""
    spec = next(_mappings(document, "spec"), {})
    side, executor = (next(_mappings(spec, field), {}) for field in ("source", "executor"))
    listed, wanted = side.get("options"), _WANTED.get(str(side.get("type")), "")
    if spec.get("schedule") or not (wanted and isinstance(listed, list)) or _names_branch(executor):
        return
    own = {each["name"]: index for index, each in enumerate(listed) if isinstance(each, dict) and "name" in each}
    given = {name: listed[index].get("value") for name, index in own.items() if not listed[index].get("valueFrom")}
    if wanted in own and wanted not in given:
        return
    path: FieldPath = ("spec", "source", "options")
    written: FieldPath = (*path, own[wanted], "value") if wanted in own else path
    spot = Spot(written, written) if wanted in own else Spot(written, (*path, len(listed)), wanted)
    if wanted == "ref":
        yield from floating.of_git(given.get("url"), given.get(wanted), spot)
    else:
        repository = _hub_of(executor), given.get("repo-type") or "model", given.get("repo")
        yield from floating.of_hub(repository, given.get(wanted), spot)


def _names_branch(executor: Json) -> bool:
    given = (each for each, _ in values(executor, "options", "extraArgs", "*"))
    return any(str(each).partition("=")[0] in _OWN_REF for each in given)


def _hub_of(executor: Json) -> Any:
    """Return the address of the Hub that a cube copies from; None if only the cluster knows it."""
    for each in _mappings(executor, "env", "*"):
        if each.get("name") == "HF_ENDPOINT":
            return str(each["value"]).rstrip("/") if each.get("value") else None
    return HUB


def _mappings(document: Json, *path: str) -> Iterator[Json]:
    return (each for each, _ in values(document, *path) if isinstance(each, dict))


READING = Reading(
    sources=lambda document: _addresses(document, "source"),
    sinks=lambda document: _addresses(document, "sink"),
    pins=_pins,
    loss=loss_if("It deletes what the source lacks.", "spec", "executor", "options", "sync"),
)
