"""Rules of a DataCube that concern more than one of its fields."""

from collections.abc import Iterator
from typing import Any

from stowplan.library.dialects.data_cube import (
    arguments as data_cube_arguments,
)
from stowplan.library.dialects.data_cube import (
    claim,
)
from stowplan.library.dialects.data_cube import (
    options as data_cube_options,
)
from stowplan.library.dialects.data_cube import (
    remote as data_cube_remote,
)
from stowplan.library.dialects.data_cube.arguments import Arguments
from stowplan.library.dialects.data_cube.options import Side
from stowplan.library.dialects.data_cube.variable_references import references
from stowplan.schema.agents.transfer_config import NO_REF
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import DataCube, DataReference, ExecutorOptions

_NO_OPTIONS = ExecutorOptions()

REMOTE_TYPES = ("git", "huggingface", "s3")


def options_of(model: DataCube) -> ExecutorOptions:
    """The executor's options; empty ones where there are none."""
    executor = model.spec.executor
    return (executor.options if executor else None) or _NO_OPTIONS


def remote_side(model: DataCube) -> Side:
    """The side that is no claim."""
    return "sink" if model.spec.source.type == "pvc" else "source"


def remote(model: DataCube) -> DataReference:
    """What that side says."""
    return model.spec.sink if model.spec.source.type == "pvc" else model.spec.source


def sides(model: DataCube) -> list[Finding]:
    """Exactly one side is a claim."""
    types = (model.spec.source.type, model.spec.sink.type)
    if types.count("pvc") == 1:
        return []
    what = "Both sides are claims" if "pvc" in types else f"{types[0]} and {types[1]} are both remote"
    message = f"{what}; exactly one of source and sink is a claim (`pvc`)."
    hint = "Copy in two steps, over a claim." if "pvc" not in types else f"Choose one of {', '.join(REMOTE_TYPES)}."
    return [finding("SP490", ("spec", "sink", "type"), message, hint)]


def findings(model: DataCube, arguments: Arguments, namespace: str) -> list[Finding]:
    """What is wrong with a cube that has one claim; `namespace` is that of the cube."""
    return [
        *data_cube_options.findings(model.spec.source, "source", ("spec", "source")),
        *data_cube_options.findings(model.spec.sink, "sink", ("spec", "sink")),
        *_blocks(model),
        *claim.findings(model, namespace),
        *data_cube_remote.findings(model, remote(model), remote_side(model)),
        *_ref(model, arguments),
        *_mirror(model, arguments),
        *_overridden(model, arguments),
    ]


def _blocks(model: DataCube) -> Iterator[Finding]:
    """Settings of another type, and certificates for a claim."""
    for side in ("source", "sink"):
        reference: DataReference = getattr(model.spec, side)
        for block in ("git", "huggingface", "s3", "pvc"):
            if getattr(reference, block) is not None and block != reference.type:
                message = f"`{block}` has no effect, since `type` is {reference.type}."
                yield finding("SP406", ("spec", side, block), message, "Remove it.", anchor=Anchor.KEY)
        if reference.ca_bundle is not None:
            yield from _certificates(reference, ("spec", side, "caBundle"))


def _certificates(reference: DataReference, path: FieldPath) -> Iterator[Finding]:
    bundle = reference.ca_bundle
    if reference.type == "pvc":
        yield finding("SP406", path, "A claim needs no certificates.", "Remove it.", anchor=Anchor.KEY)
    elif bundle and bool(bundle.config_map_key_ref) == bool(bundle.secret_key_ref):
        message = "The certificates come from exactly one place."
        hint = "Give either `configMapKeyRef` or `secretKeyRef`."
        yield finding("SP494", path, message, hint)
    elif bundle:
        key = "secretKeyRef" if bundle.secret_key_ref else "configMapKeyRef"
        if (bundle.secret_key_ref or bundle.config_map_key_ref or {}).get("optional"):
            message = "Without the certificates nothing could be trusted, so the pod waits until they are there."
            yield finding("SP406", (*path, key, "optional"), message, "Remove it.", anchor=Anchor.KEY)


def _ref(model: DataCube, arguments: Arguments) -> Iterator[Finding]:
    """A branch or tag whose name Git does not allow. One that refers to variables is left to the agent."""
    reference, base = remote(model), ("spec", remote_side(model))
    named = [(data_cube_options.literal(reference, "ref"), data_cube_options.path_of(reference, "ref", base))]
    if "ref" in arguments.places:
        path: FieldPath = (*data_cube_arguments.BASE, arguments.places["ref"])
        named.append((str(arguments.settings["ref"]), path))
    for name, path in named:
        if reference.type == "git" and not references(name) and NO_REF.search(name):
            message = f"{name!a} can be neither a branch nor a tag nor a commit."
            yield finding("SP494", path, message, "Give a name as `git branch` shows it.")


def _mirror(model: DataCube, arguments: Arguments) -> Iterator[Finding]:
    options = options_of(model)
    base: FieldPath = ("spec", "executor", "options")
    if not options.sync:
        for field, key in (("allow_empty", "allowEmpty"), ("max_delete", "maxDelete")):
            if getattr(options, field) is not None:
                message = f"`{key}` has no effect without `sync: true`."
                yield finding("SP406", (*base, key), message, "Remove it.", anchor=Anchor.KEY)
        if "max_delete" in arguments.places:
            message = "--max-delete has no effect without `sync: true`."
            path = (*data_cube_arguments.BASE, arguments.places["max_delete"])
            yield finding("SP406", path, message, "Remove it.")
        return
    if model.spec.source.type != "s3":
        message = f"Found a source of type {model.spec.source.type}; only from s3 to a claim can `sync` delete."
        yield finding("SP497", (*base, "sync"), message, "Remove it.")
    elif (settings := remote(model).s3) and settings.kind == "file":
        message = "`sync` would delete everything but the one file that is copied."
        yield finding("SP497", (*base, "sync"), message, "Remove it, or name a prefix.")
    elif not claim.of_cube(model).sub_path:
        message = "`sync` would delete everything in the claim that the source does not have."
        hint = "Name a directory in `sink.pvc.subPath`; for the whole claim write `subPath: .`."
        yield finding("SP497", (*base, "sync"), message, hint)


_TYPED: dict[str, tuple[tuple[str, ...], str]] = {
    "parallelism": (("executor", "options"), "parallelism"),
    "part_size_mib": (("executor", "options"), "part_size"),
    "request_retries": (("executor", "options"), "request_retries"),
    "max_delete": (("executor", "options"), "max_delete"),
    "path_style": (("s3",), "path_style"),
    "include": (("huggingface",), "include"),
    "exclude": (("huggingface",), "exclude"),
    "depth": (("git",), "depth"),
    "submodules": (("git",), "submodules"),
}
"""Settings that flags give, and the typed field that takes precedence."""


def typed(model: DataCube, setting: str) -> Any:
    """The value of the typed field of a setting; None where it is not given."""
    blocks, name = _TYPED[setting]
    node: Any = model.spec if blocks[0] == "executor" else remote(model)
    for block in blocks:
        node = getattr(node, block) if node is not None else None
    return getattr(node, name) if node is not None else None


def setting(model: DataCube, arguments: Arguments, name: str) -> Any:
    """What a typed field says, or else a flag; None for neither."""
    value = typed(model, name)
    return arguments.settings.get(name) if value is None else value


def _overridden(model: DataCube, arguments: Arguments) -> Iterator[Finding]:
    """Flags beside the field or option that says the same, and those of options that only act on the other side."""
    options, side = data_cube_options.OPTIONS[remote(model).type], remote_side(model)
    for name, index in arguments.places.items():
        own = name in _TYPED
        if typed(model, name) is not None if own else data_cube_options.given(remote(model), name):
            message = "The flag has no effect, since a field or option says the same."
            yield finding("SP406", (*data_cube_arguments.BASE, index), message, "Remove it.")
        elif name in options and options[name].side not in (None, side):
            message = f"The flag has no effect on a {side}."
            yield finding("SP406", (*data_cube_arguments.BASE, index), message, "Remove it.")


def defaults(model: DataCube) -> Iterator[Finding]:
    """What the old system did otherwise where nothing is said."""
    source, sink = model.spec.source, model.spec.sink
    if source.type == "git" and not data_cube_options.given(source, "ref"):
        message = "Without `ref`, the branch is the one that the remote's HEAD names; the old system took master."
        yield finding("SP411", ("spec", "source", "options"), message, "Add the option `ref` to choose.")
    if sink.type == "s3" and not (sink.s3 and sink.s3.create_bucket is not None):
        message = "The bucket must be there; the old system made it."
        yield finding("SP411", ("spec", "sink", "type"), message, "Set `s3.createBucket: true` to have it made.")
