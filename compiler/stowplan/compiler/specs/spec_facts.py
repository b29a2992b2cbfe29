"""Facts about specs for rules across specs: small values that can be cached and sent between processes.

The facts of a spec follow from its document, the file and position of the document, and the platform; the cache must
renew the facts when one of these changes. So a spec can be checked against all others without their models and
documents.
"""

from dataclasses import dataclass, replace

from stowplan.compiler.model import Spec
from stowplan.compiler.specs import digests
from stowplan.library.dialects.mounted_claims import MountedClaim
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Deletion, Lineage, Reference
from stowplan.library.dialects.shared.run_order import Predecessor
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class SpecFacts:
    """Facts about one spec for the checks of other specs.

    `file` and `index` identify its document. `digest` covers the spec, and after `resolve` also the datasets
    of a task. `run_digest` covers what its run depends on, and after `resolve` also the `place` of the datasets of a
    task: a digest of where their data is. `pins` are the entries of the lock file that the document has, see
    `Document.pins`. The other fields are those of `Relations`, which describes them.
    """

    id: SpecId
    file: str
    index: int
    digest: str
    run_digest: str = ""
    place: str = ""
    references: tuple[Reference, ...] = ()
    pods: int = 0
    ports: tuple[int, int] | None = None
    mounted: tuple[MountedClaim, ...] = ()
    named: tuple[tuple[str, FieldPath], ...] = ()
    write: Write | None = None
    outputs: tuple[Write, ...] = ()
    caches: tuple[tuple[str, FieldPath], ...] = ()
    claim: str | None = None
    single: FieldPath = ()
    lineage: Lineage | None = None
    after: tuple[Predecessor, ...] = ()
    operation: str = ""
    repeats: bool = False
    changes: bool = False
    locked: tuple[SpecId, ...] = ()
    deletes: Deletion | None = None
    revision: str = ""
    pins: tuple[str, ...] = ()

    @property
    def own_digest(self) -> str:
        """The part of the digest that covers the spec alone, without the spec that it refers to."""
        return self.digest.partition("+")[0]

    def alone(self) -> "SpecFacts":
        """Return the facts as they were before `resolve`."""
        if "+" not in self.digest:
            return self
        return replace(self, digest=self.own_digest, run_digest=self.run_digest.partition("+")[0])


def of_spec(spec: Spec, context: Context) -> SpecFacts:
    """Return the facts of a spec that has no errors."""
    relations = DIALECTS[spec.id.kind].relations(spec.model, context)
    own = digests.of_run(spec.model, spec.id.namespace), digests.of_place(spec.model, spec.id.namespace)
    document = spec.document
    return SpecFacts(
        spec.id, document.file, document.index, spec.digest, *own, pins=document.pins, **relations._asdict()
    )
