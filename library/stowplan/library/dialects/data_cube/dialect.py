"""The dialect of the kind DataCube."""

from collections.abc import Iterator
from typing import Any

from stowplan.library.dialects.data_cube import environment
from stowplan.library.dialects.data_cube.lower import lower
from stowplan.library.dialects.data_cube.remotes.registry import REMOTES
from stowplan.library.dialects.reading import floating
from stowplan.library.dialects.reading.api import Address, Reading, loss_if
from stowplan.library.dialects.reading.floating import HUB, FloatingReference, Spot
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations, SecretKeys
from stowplan.library.manifest import ExternalReference, Json, Unit
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.data_cube import ClaimReference, DataCube
from stowplan.schema.kinds.kind import values

_ADDRESS = ("s3-uri", "repo", "url")
"""The options that say where the data is, one for each type."""

_WANTED = {"git": "ref", "huggingface": "revision"}
"""The option of a source that names its branch, by type."""

_OWN_REF = ("-b", "--branch", "--revision")
"""Arguments of the old tools by which a cube may name its branch, instead of by an option."""


def relations(model: DataCube, context: Context) -> Relations:
    """Return the claim that the cube names without making it and where it writes to."""
    namespace = context.namespace(model.metadata.namespace)
    return Relations(
        named=tuple(_named(model)),
        write=_write(model, namespace),
        repeats=model.spec.schedule is not None,
    )


def _named(model: DataCube) -> Iterator[tuple[str, FieldPath]]:
    for side in ("source", "sink"):
        claim: ClaimReference | None = getattr(model.spec, side).pvc
        if claim and claim.name and not claim.template:
            yield claim.name, ("spec", side, "pvc", "name")


def _write(model: DataCube, namespace: str) -> Write | None:
    """Return the directory of the claim that a cube writes to; None unless exactly the sink is a claim.

    A Git repository has a subdirectory of its own.
    """
    source, sink, executor = model.spec.source, model.spec.sink, model.spec.executor
    if sink.type != "pvc" or source.type == "pvc":
        return None
    claim = sink.pvc or ClaimReference()
    parts = [claim_paths.canonical(claim.sub_path or ""), REMOTES[source.type].directory(source)]
    path = "/".join(part for part in parts if part)
    at: FieldPath = ("spec", "sink", "pvc", "subPath" if claim.sub_path else "name")
    template: FieldPath = ("spec", "sink", "pvc", "template") if claim.template else ()
    mirror = bool(executor and executor.options and executor.options.sync)
    return Write(namespace, claim.name or "", path, mirror, at, template)


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


def _secrets(model: DataCube, unit: Unit) -> Iterator[SecretKeys]:
    for path, name, key in environment.secret_keys(model):
        yield SecretKeys(ExternalReference("Secret", unit.spec.namespace, name, (key,)), path, chosen=True)


_RETRIES = "spec.executor.options.backoffLimit"

DIALECT = Dialect(lower, relations, reading=READING, secrets=_secrets, retries=_RETRIES)
