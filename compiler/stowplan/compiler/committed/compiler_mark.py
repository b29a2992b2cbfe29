"""The compiler mark: a digest of everything that a run is compiled from, except its spec. The inventory holds it.

If the mark and the spec are unchanged, the spec compiles to the same files. So a committed file that differs from them
was not written by the compiler.
"""

from collections.abc import Sequence
from hashlib import blake2b

from stowplan.compiler.model import Spec
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.dialects.shared.context import Context
from stowplan.library.values.canonical_json import ascii_json
from stowplan.schema.kinds.table import TRAINING_KINDS

_SIZE = 16
"""Size of a digest in bytes."""


def marks(specs: Sequence[Spec], context: Context) -> list[str]:
    """Return the compiler marks of specs, in their order.

    All are empty if the platform lists extensions: an extension may read anything, so no digest covers its input.

    A mark covers the version of Stowplan, the platform file, the path of the spec's file, and the datasets of a
    training job. The digest of the spec covers all other inputs of a run.
    """
    if context.platform.extensions:
        return [""] * len(specs)
    platform = [context.version, context.platform.model_dump(mode="json", exclude_unset=True)]
    common = blake2b(ascii_json(platform), digest_size=_SIZE).hexdigest()
    return [blake2b(ascii_json([common, *_own(spec, context)]), digest_size=_SIZE).hexdigest() for spec in specs]


def _own(spec: Spec, context: Context) -> list[object]:
    named = DIALECTS[spec.id.kind].relations(spec.model, context).references if spec.id.kind in TRAINING_KINDS else ()
    datasets = [context.datasets[each.spec] for each in named if each.spec in context.datasets]
    bodies: list[object] = [each.model_dump(mode="json", exclude_unset=True) for each in datasets]
    return [spec.document.file, *(bodies or [None])]
