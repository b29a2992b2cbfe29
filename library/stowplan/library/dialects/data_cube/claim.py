"""The claim of a DataCube: which side it is, where in it the data lies, and whether its template makes a claim."""

from collections.abc import Iterator

from stowplan.library.dialects.data_cube import paths
from stowplan.library.dialects.shared import claim_rules
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import ClaimReference, DataCube

_NOTHING = ClaimReference()


def side_of(model: DataCube) -> str:
    """The side that is the claim: `source` or `sink`."""
    return "source" if model.spec.source.type == "pvc" else "sink"


def of_cube(model: DataCube) -> ClaimReference:
    """The claim; an empty reference where nothing is said of it."""
    side = model.spec.source if model.spec.source.type == "pvc" else model.spec.sink
    return side.pvc or _NOTHING


def findings(model: DataCube, namespace: str) -> list[Finding]:
    """What is wrong with the claim, in the namespace of the cube. Exactly one side must be one."""
    base: FieldPath = ("spec", side_of(model), "pvc")
    claim = of_cube(model)
    return [
        *_name(claim, base),
        *_sub_path(claim, base),
        *_read_only(model, claim, base),
        *_template(model, claim, base, namespace),
    ]


def made(model: DataCube) -> Json | None:
    """The template of the claim that the cube makes; that of a source makes none."""
    return of_cube(model).template if side_of(model) == "sink" else None


def _name(claim: ClaimReference, base: FieldPath) -> Iterator[Finding]:
    if not claim.name:
        message = "`pvc.name` is missing; it names the claim."
        yield finding("SP499", (*base, "name"), message, "Name a claim of the same namespace.")
    else:
        yield from claim_rules.name_findings(claim.name, (*base, "name"))


def _sub_path(claim: ClaimReference, base: FieldPath) -> list[Finding]:
    return paths.sub_path(claim.sub_path, (*base, "subPath")) if claim.sub_path else []


def _read_only(model: DataCube, claim: ClaimReference, base: FieldPath) -> Iterator[Finding]:
    if claim.read_only and side_of(model) == "sink":
        message = "A sink is written to, so it cannot be read-only."
        yield finding("SP499", (*base, "readOnly"), message, "Remove it.")


def _template(model: DataCube, claim: ClaimReference, base: FieldPath, namespace: str) -> Iterator[Finding]:
    if claim.template is None:
        return
    if side_of(model) == "source":
        message = "A source must hold data already, so its template makes no claim."
        yield finding("SP406", (*base, "template"), message, "Remove it.", anchor=Anchor.KEY)
        return
    identity = claim_rules.Identity(claim.name or "", namespace)
    yield from claim_rules.template_findings(claim.template, identity, (*base, "template"), owner="cube")
