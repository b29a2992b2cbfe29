"""The compiler mark: a digest of everything that a run is compiled from, except its spec. The inventory holds it.

If the mark and the spec are unchanged, the spec compiles to the same files. So a committed file that differs from them
was not written by the compiler.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from stowplan.compiler.model import Program, Spec
from stowplan.library.dialects import awaited
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.dialects.shared.context import Context
from stowplan.library.values.canonical_json import ascii_json
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.table import TRAINING_KINDS

_SIZE = 16
"""Size of a digest in bytes."""


def marks(specs: Sequence[Spec], program: Program, context: Context, *, argocd: bool = True) -> list[str]:
    """Return the compiler marks of some specs of a program, in their order.

    All are empty in an app, or if the platform lists extensions: their code may read anything, so no digest covers its
    input.

    A mark covers the version of Stowplan, the platform file, its path if that is not a usual one (the headers of all
    files name it), the path of the spec's file, the datasets of a training job and what it runs after, and all of a
    dataset or a task, whose `run_digest` does not cover which nodes cache the data. The `run_digest` of the spec covers
    all other inputs of a run. No run is compiled from `argocd` of the platform file, and it differs between clusters of
    an environment, so their marks leave it out: `argocd` is False.
    """
    if context.platform.extensions or program.app:
        return [""] * len(specs)
    left_out = None if argocd else {"argocd"}
    platform = [context.version, context.platform.model_dump(mode="json", exclude_unset=True, exclude=left_out)]
    platform += [program.other_platform] if program.other_platform else []
    common = blake2b(ascii_json(platform), digest_size=_SIZE).hexdigest()
    return [blake2b(ascii_json([common, *_own(spec, context)]), digest_size=_SIZE).hexdigest() for spec in specs]


def _own(spec: Spec, context: Context) -> list[object]:
    bodies: list[object] = [each.model_dump(mode="json", exclude_unset=True) for each in _others(spec, context)]
    whole = [] if spec.digest == spec.run_digest else [spec.digest]
    return [spec.document.file, *(bodies or [None]), *whole]


def _others(spec: Spec, context: Context) -> Iterator[CustomResource]:
    """Yield the datasets of a training job, and what it runs after, each with its own datasets."""
    if spec.id.kind not in TRAINING_KINDS:
        return
    before = [context.specs[each] for each in awaited.named(spec.model, context) if each in context.specs]
    yield from before
    for user in (spec.model, *before):
        for each in DIALECTS[user.kind].relations(user, context).references:
            if each.spec in context.datasets:
                yield context.datasets[each.spec]
