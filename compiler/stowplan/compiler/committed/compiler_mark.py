"""Digest of all inputs of a run except its spec: a short string in the inventory.

With the same mark, an unchanged spec compiles to the same files, so a committed file that differs was not compiled.
"""

from collections.abc import Sequence
from hashlib import blake2b

from stowplan.compiler.model import Spec
from stowplan.library.dialects.shared.context import Context
from stowplan.library.values.canonical_json import ascii_json
from stowplan.schema.kinds.paddle_job import PaddleJob

_SIZE = 16
"""Size of a digest in bytes."""


def marks(specs: Sequence[Spec], context: Context) -> list[str]:
    """The marks of specs, in their order; all empty if the platform lists extensions, which may read anything.

    A mark covers the version of Stowplan, the platform file, the path of the spec's file, and the dataset of a training
    job. The digest of the spec covers all other inputs of a run.
    """
    if context.platform.extensions:
        return [""] * len(specs)
    platform = [context.version, context.platform.model_dump(mode="json", exclude_unset=True)]
    common = blake2b(ascii_json(platform), digest_size=_SIZE).hexdigest()
    return [blake2b(ascii_json([common, *_own(spec, context)]), digest_size=_SIZE).hexdigest() for spec in specs]


def _own(spec: Spec, context: Context) -> list[object]:
    reference = spec.model.spec.sample_set_ref if isinstance(spec.model, PaddleJob) else None
    dataset = context.sample_sets.get((spec.id.namespace, reference.name or "")) if reference else None
    return [spec.document.file, dataset.model_dump(mode="json", exclude_unset=True) if dataset else None]
