"""Rules of a DataCube that concern more than one of its fields."""

from collections.abc import Iterator

from stowplan.library.dialects.data_cube import certificates, claim, options, remote
from stowplan.library.dialects.data_cube.arguments import BASE
from stowplan.library.dialects.data_cube.cube import Cube
from stowplan.library.dialects.data_cube.variable_references import references
from stowplan.schema.agents.transfer_config import NO_REF
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import DataCube, DataReference


def sides(model: DataCube) -> list[Finding]:
    """Return a finding if a DataCube does not have exactly one claim, else an empty list."""
    types = (model.spec.source.type, model.spec.sink.type)
    if types.count("pvc") == 1:
        return []
    what = "Both sides are claims" if "pvc" in types else f"{types[0]} and {types[1]} are both remote"
    message = f"{what}; exactly one of source and sink is a claim (`pvc`)."
    hint = (
        "Copy in two steps, over a claim."
        if "pvc" not in types
        else f"Choose one of {', '.join(options.REMOTE_TYPES)}."
    )
    return [finding("SP490", ("spec", "sink", "type"), message, hint)]


def findings(cube: Cube) -> list[Finding]:
    """Return findings about the two sides, and about fields that depend on each other."""
    model = cube.model
    return [
        *options.findings(model.spec.source, "source", ("spec", "source")),
        *options.findings(model.spec.sink, "sink", ("spec", "sink")),
        *_blocks(model),
        *claim.findings(cube),
        *remote.findings(cube),
        *_ref(cube),
        *_mirror(cube),
        *_overridden(cube),
    ]


def _blocks(model: DataCube) -> Iterator[Finding]:
    """Yield findings about blocks of settings that do not fit the type of their side, and about certificates."""
    for side in ("source", "sink"):
        reference: DataReference = getattr(model.spec, side)
        for block in ("git", "huggingface", "s3", "pvc"):
            if getattr(reference, block) is not None and block != reference.type:
                message = f"`{block}` has no effect, since `type` is {reference.type}."
                yield finding("SP406", ("spec", side, block), message, "Remove it.", anchor=Anchor.KEY)
        yield from certificates.findings(reference, ("spec", side, "caBundle"))


def _ref(cube: Cube) -> Iterator[Finding]:
    """Yield findings about branch or tag names that Git does not allow.

    The agent checks names that refer to variables.
    """
    reference, arguments = cube.remote, cube.arguments
    named = [(options.literal(reference, "ref"), options.path_of(reference, "ref", cube.remote_path))]
    if "ref" in arguments.places:
        path: FieldPath = (*BASE, arguments.places["ref"])
        named.append((str(arguments.settings["ref"]), path))
    for name, path in named:
        if reference.type == "git" and not references(name) and NO_REF.search(name):
            message = f"{name!a} can be neither a branch nor a tag nor a commit."
            yield finding("SP494", path, message, "Give a name as `git branch` shows it.")


def _mirror(cube: Cube) -> Iterator[Finding]:
    base: FieldPath = ("spec", "executor", "options")
    if not cube.options.sync:
        for field, key in (("allow_empty", "allowEmpty"), ("max_delete", "maxDelete")):
            if getattr(cube.options, field) is not None:
                message = f"`{key}` has no effect without `sync: true`."
                yield finding("SP406", (*base, key), message, "Remove it.", anchor=Anchor.KEY)
        if "max_delete" in cube.arguments.places:
            message = "--max-delete has no effect without `sync: true`."
            path = (*BASE, cube.arguments.places["max_delete"])
            yield finding("SP406", path, message, "Remove it.")
        return
    source = cube.model.spec.source
    if source.type != "s3":
        message = f"Found a source of type {source.type}; only from s3 to a claim can `sync` delete."
        yield finding("SP497", (*base, "sync"), message, "Remove it.")
    elif source.s3 and source.s3.kind == "file":
        message = "`sync` would delete everything but the one file that is copied."
        yield finding("SP497", (*base, "sync"), message, "Remove it, or name a prefix.")
    elif not cube.claim.sub_path:
        message = "`sync` would delete everything in the claim that the source does not have."
        hint = "Name a directory in `sink.pvc.subPath`; for the whole claim write `subPath: .`."
        yield finding("SP497", (*base, "sync"), message, hint)


def _overridden(cube: Cube) -> Iterator[Finding]:
    """Yield findings about flags without effect: a field or option overrides them, or they are for the other side."""
    known = options.OPTIONS[cube.remote.type]
    for name, index in cube.arguments.places.items():
        if cube.overrides(name):
            message = "The flag has no effect, since a field or option says the same."
            yield finding("SP406", (*BASE, index), message, "Remove it.")
        elif name in known and known[name].side not in (None, cube.side):
            message = f"The flag has no effect on a {cube.side}."
            yield finding("SP406", (*BASE, index), message, "Remove it.")


def defaults(cube: Cube) -> Iterator[Finding]:
    """Yield findings about defaults in use that differ from the old system's: branch and bucket."""
    source, sink = cube.model.spec.source, cube.model.spec.sink
    if source.type == "git" and not options.given(source, "ref"):
        message = "Without `ref`, the branch is the one that the remote's HEAD names; the old system took master."
        yield finding("SP411", ("spec", "source", "options"), message, "Add the option `ref` to choose.")
    if sink.type == "s3" and not (sink.s3 and sink.s3.create_bucket is not None):
        message = "The bucket must be there; the old system made it."
        yield finding("SP411", ("spec", "sink", "type"), message, "Set `s3.createBucket: true` to have it made.")
