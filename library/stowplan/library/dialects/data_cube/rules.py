"""Rules of a DataCube that concern more than one of its fields."""

from collections.abc import Iterator

from pydantic.alias_generators import to_camel

from stowplan.library.dialects.data_cube import certificates, option_rules
from stowplan.library.dialects.data_cube.cube import Cube
from stowplan.library.dialects.data_cube.remotes.flags import BASE
from stowplan.library.dialects.data_cube.remotes.registry import REMOTES
from stowplan.library.dialects.shared import claim_paths, claim_rules
from stowplan.schema.diagnostics import FieldPath, Finding, finding, without_effect
from stowplan.schema.kinds.data_cube import DataCube, DataReference


def sides(model: DataCube) -> list[Finding]:
    """Return a finding if a DataCube does not have exactly one claim, else an empty list."""
    types = (model.spec.source.type, model.spec.sink.type)
    if types.count("pvc") == 1:
        return []
    what = "Both sides are claims" if "pvc" in types else f"{types[0]} and {types[1]} are both remote"
    message = f"{what}; exactly one of source and sink is a claim (`pvc`)."
    hint = "Copy in two steps, over a claim." if "pvc" not in types else f"Choose one of {', '.join(REMOTES)}."
    return [finding("SP490", ("spec", "sink", "type"), message, hint)]


def findings(cube: Cube) -> list[Finding]:
    """Return findings about source and sink of a DataCube, and about its fields that depend on each other."""
    model = cube.model
    return [
        *option_rules.findings(model.spec.source, "source", ("spec", "source")),
        *option_rules.findings(model.spec.sink, "sink", ("spec", "sink")),
        *_blocks(model),
        *_claim(cube),
        *cube.kind.findings(cube),
        *_one_sided(cube),
        *_speed(cube),
        *_mirror(cube),
        *_overridden(cube),
    ]


def _blocks(model: DataCube) -> Iterator[Finding]:
    """Yield findings about blocks of settings that do not fit the type of their side, and about certificates."""
    for side in ("source", "sink"):
        reference: DataReference = getattr(model.spec, side)
        for block in (*REMOTES, "pvc"):
            if getattr(reference, block, None) is not None and block != reference.type:
                message = f"`{block}` has no effect, since `type` is {reference.type}."
                yield without_effect(("spec", side, block), message)
        yield from certificates.findings(reference, ("spec", side, "caBundle"))


def _one_sided(cube: Cube) -> Iterator[Finding]:
    """Yield findings about settings that have no effect, since the remote side is not the source or not the sink."""
    settings = getattr(cube.reference, cube.reference.type, None)
    for field, acts in cube.kind.one_sided.items():
        if cube.side != acts and getattr(settings, field, None) is not None:
            message = f"`{to_camel(field)}` has no effect on a {cube.side}."
            path = (*cube.path, cube.reference.type, to_camel(field))
            yield without_effect(path, message)


def _speed(cube: Cube) -> Iterator[Finding]:
    if cube.kind.unlimited and cube.given.max_bytes_per_second is not None:
        message = f"The speed of {cube.reference.type} cannot be limited."
        path = ("spec", "executor", "options", "maxBytesPerSecond")
        yield finding("SP494", path, message, "Remove it, or limit the traffic of the pod by your network plug-in.")


def _mirror(cube: Cube) -> Iterator[Finding]:
    base: FieldPath = ("spec", "executor", "options")
    if not cube.given.sync:
        for field, key in (("allow_empty", "allowEmpty"), ("max_delete", "maxDelete")):
            if getattr(cube.given, field) is not None:
                yield without_effect((*base, key), f"`{key}` has no effect without `sync: true`.")
        if "max_delete" in cube.arguments.places:
            message = "--max-delete has no effect without `sync: true`."
            path = (*BASE, cube.arguments.places["max_delete"])
            yield finding("SP406", path, message, "Remove it.")
        return
    if cube.uploads or cube.kind.mirror is None:
        mirrored = " and ".join(name for name, each in REMOTES.items() if each.mirror)
        message = (
            f"Found a source of type {cube.model.spec.source.type}; only from {mirrored} to a claim can `sync` delete."
        )
        yield finding("SP497", (*base, "sync"), message, "Remove it.")
    elif problem := cube.kind.mirror(cube):
        yield finding("SP497", (*base, "sync"), *problem)
    elif not cube.claim.sub_path:
        message = "`sync` would delete everything in the claim that the source does not have."
        hint = "Name a directory in `sink.pvc.subPath`; for the whole claim write `subPath: .`."
        yield finding("SP497", (*base, "sync"), message, hint)


def _overridden(cube: Cube) -> Iterator[Finding]:
    """Yield findings about flags without effect: a field or option overrides them, or they are for the other side."""
    known = cube.kind.options
    for name, index in cube.arguments.places.items():
        if cube.overrides(name):
            message = "The flag has no effect, since a field or option says the same."
            yield finding("SP406", (*BASE, index), message, "Remove it.")
        elif name in known and not known[name].acts_on(cube.side):
            message = f"The flag has no effect on a {cube.side}."
            yield finding("SP406", (*BASE, index), message, "Remove it.")


def _claim(cube: Cube) -> Iterator[Finding]:
    """Yield all findings about the cube's claim."""
    claim, base = cube.claim, cube.claim_path
    if not claim.name:
        message = "`pvc.name` is missing; it names the claim."
        yield finding("SP499", (*base, "name"), message, "Name a claim of the same namespace.")
    else:
        yield from claim_rules.name_findings(claim.name, (*base, "name"))
    if claim.sub_path:
        yield from claim_paths.sub_path(claim.sub_path, (*base, "subPath"))
    if claim.read_only and not cube.uploads:
        message = "A sink is written to, so it cannot be read-only."
        yield finding("SP499", (*base, "readOnly"), message, "Remove it.")
    if claim.links and not cube.uploads:
        message = "`links` has no effect: only what is copied from a claim has symbolic links."
        yield without_effect((*base, "links"), message)
    yield from _template(cube, base)


def _template(cube: Cube, base: FieldPath) -> Iterator[Finding]:
    claim = cube.claim
    if claim.template is None:
        return
    if cube.uploads:
        yield without_effect((*base, "template"), "A source must hold data already, so its template makes no claim.")
        return
    name, home = claim.name or "", cube.id.namespace
    yield from claim_rules.template_findings(claim.template, name, home, (*base, "template"), owner="cube")
