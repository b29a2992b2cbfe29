"""What a run was compiled by and from, besides its spec, as one short string in the inventory.

While it is the same, an unchanged spec compiles to the same files, so a committed file that differs was not compiled.
"""

from collections.abc import Sequence
from hashlib import blake2b

from stowplan.compiler.model import Spec
from stowplan.library.dialects.shared.context import Context
from stowplan.library.values.canonical_json import ascii_json
from stowplan.schema.kinds.paddle_job import PaddleJob

_SIZE = 16
"""Bytes."""


def marks(specs: Sequence[Spec], context: Context) -> list[str]:
    """The marks of specs, in their order; all empty where the platform lists extensions, which may look at anything.

    A mark covers the version of Stowplan, the platform file, the spec's file, and the dataset of a training job. What
    else a run is compiled from is in the digest of its spec.
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
