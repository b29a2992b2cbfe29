"""Facts about specs for rules across specs, which need neither their models nor their documents."""

from dataclasses import dataclass

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
    task: a digest of where their data is. The other fields are those of `Relations`, which describes them.
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


def of_spec(spec: Spec, context: Context) -> SpecFacts:
    """Return the facts of a spec that has no errors."""
    relations = DIALECTS[spec.id.kind].relations(spec.model, context)
    own = digests.of_run(spec.model, spec.id.namespace), digests.of_place(spec.model, spec.id.namespace)
    return SpecFacts(spec.id, spec.document.file, spec.document.index, spec.digest, *own, **relations._asdict())
