"""Rules of a DataCube's claim: its name, the path in it, and its template."""

from collections.abc import Iterator

from stowplan.library.dialects.data_cube.cube import Cube
from stowplan.library.dialects.shared import claim_paths, claim_rules
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import ClaimReference


def findings(cube: Cube) -> list[Finding]:
    """Return all findings about the cube's claim."""
    claim, base = cube.claim, cube.claim_path
    return [
        *_name(claim, base),
        *_sub_path(claim, base),
        *_read_only(cube, base),
        *_links(cube, base),
        *_template(cube, base),
    ]


def _name(claim: ClaimReference, base: FieldPath) -> Iterator[Finding]:
    if not claim.name:
        message = "`pvc.name` is missing; it names the claim."
        yield finding("SP499", (*base, "name"), message, "Name a claim of the same namespace.")
    else:
        yield from claim_rules.name_findings(claim.name, (*base, "name"))


def _sub_path(claim: ClaimReference, base: FieldPath) -> list[Finding]:
    return claim_paths.sub_path(claim.sub_path, (*base, "subPath")) if claim.sub_path else []


def _links(cube: Cube, base: FieldPath) -> Iterator[Finding]:
    if cube.claim.links and not cube.uploads:
        message = "`links` has no effect: only what is copied from a claim has symbolic links."
        yield finding("SP406", (*base, "links"), message, "Remove it.", anchor=Anchor.KEY)


def _read_only(cube: Cube, base: FieldPath) -> Iterator[Finding]:
    if cube.claim.read_only and not cube.uploads:
        message = "A sink is written to, so it cannot be read-only."
        yield finding("SP499", (*base, "readOnly"), message, "Remove it.")


def _template(cube: Cube, base: FieldPath) -> Iterator[Finding]:
    claim = cube.claim
    if claim.template is None:
        return
    if cube.uploads:
        message = "A source must hold data already, so its template makes no claim."
        yield finding("SP406", (*base, "template"), message, "Remove it.", anchor=Anchor.KEY)
        return
    identity = claim_rules.Identity(claim.name or "", cube.id.namespace)
    yield from claim_rules.template_findings(claim.template, identity, (*base, "template"), owner="cube")
