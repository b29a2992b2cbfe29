"""Facts about specs for rules across specs: small values that can be cached between runs and sent between processes.

The facts of a spec follow from its document, its place, and the platform; a cache must renew them when one of these
changes. A check of a spec against the facts of others needs no models or documents of these.
"""

from dataclasses import dataclass

from stowplan.compiler.model import Spec
from stowplan.library.dialects.mounted_claims import MountedClaim
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class SpecFacts:
    """Facts about one spec for the checks of other specs.

    `file` and `index` identify its document. `digest` covers the spec, and after `resolve` also the specs that it
    refers to. The other fields are the ones of `Relations`.
    """

    id: SpecId
    file: str
    index: int
    digest: str
    reference: str | None = None
    pods: int = 0
    ports: tuple[int, int] | None = None
    mounted: tuple[MountedClaim, ...] = ()
    write: Write | None = None
    caches: tuple[tuple[str, FieldPath], ...] = ()
    claim: str | None = None
    single: FieldPath = ()

    @property
    def own_digest(self) -> str:
        """The part of the digest that covers the spec alone."""
        return self.digest.partition("+")[0]


def of_spec(spec: Spec, context: Context) -> SpecFacts:
    """The facts of a spec without errors."""
    relations = DIALECTS[spec.id.kind].relations(spec.model, context)
    return SpecFacts(spec.id, spec.document.file, spec.document.index, spec.digest, **relations._asdict())
