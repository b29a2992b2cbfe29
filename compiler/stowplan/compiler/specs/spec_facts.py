"""What specs must know of each other, as small values: they can be kept between runs and sent between processes.

The facts of a spec follow from its document, its place, and the platform; whoever keeps them must make them anew when
one of these changes. Models and documents of other specs are not needed to check a spec against them.
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
    """What others must know of one spec.

    `file` and `index` say which document it is. `digest` covers the spec, and after `resolve` also the specs that it
    refers to. The other fields are those of `Relations`.
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
    """The facts of a sound spec."""
    relations = DIALECTS[spec.id.kind].relations(spec.model, context)
    return SpecFacts(spec.id, spec.document.file, spec.document.index, spec.digest, **relations._asdict())
