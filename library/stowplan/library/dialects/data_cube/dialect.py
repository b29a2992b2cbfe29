"""The dialect of the kind DataCube."""

from collections.abc import Iterator

from stowplan.library.dialects.data_cube import environment
from stowplan.library.dialects.data_cube.lower import lower
from stowplan.library.dialects.data_cube.reading import READING
from stowplan.library.dialects.data_cube.remotes.registry import REMOTES
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations, SecretKeys
from stowplan.library.manifest import ExternalReference, Unit
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.data_cube import ClaimReference, DataCube


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


def _secrets(model: DataCube, unit: Unit) -> Iterator[SecretKeys]:
    for path, name, key in environment.secret_keys(model):
        yield SecretKeys(ExternalReference("Secret", unit.spec.namespace, name, (key,)), path, chosen=True)


_RETRIES = "spec.executor.options.backoffLimit"

DIALECT = Dialect(lower, relations, reading=READING, secrets=_secrets, retries=_RETRIES)
