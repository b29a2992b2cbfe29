"""The claim of a DataCube: which side it is, where in it the data lies, and whether its template makes a claim."""

from collections.abc import Iterator

from stowplan.library.dialects import data_cube_paths
from stowplan.library.manifest import Json
from stowplan.library.names import is_dns_subdomain
from stowplan.library.quantities import amount
from stowplan.schema.data_cube import ClaimReference, DataCube, DataReference
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding

WRITABLE = frozenset({"ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"})
_COPIED = frozenset({"labels", "annotations"})


def side_of(model: DataCube) -> str:
    """The side that is the claim: `source` or `sink`."""
    return "source" if model.spec.source.type == "pvc" else "sink"


def of_cube(model: DataCube) -> ClaimReference:
    """The claim; an empty reference where nothing is said of it."""
    side: DataReference = getattr(model.spec, side_of(model))
    return side.pvc or ClaimReference()


def findings(model: DataCube) -> list[Finding]:
    """What is wrong with the claim. Exactly one side must be one."""
    base: FieldPath = ("spec", side_of(model), "pvc")
    claim = of_cube(model)
    return [
        *_name(claim, base),
        *_sub_path(claim, base),
        *_read_only(model, claim, base),
        *_template(model, claim, base),
    ]


def made(model: DataCube) -> Json | None:
    """The template of the claim that the cube makes; that of a source makes none."""
    return of_cube(model).template if side_of(model) == "sink" else None


def _name(claim: ClaimReference, base: FieldPath) -> Iterator[Finding]:
    if not claim.name:
        message = "`pvc.name` is missing; it names the claim."
        yield finding("SP499", (*base, "name"), message, "Name a claim of the same namespace.")
    elif not is_dns_subdomain(claim.name):
        message = f'"{claim.name}" cannot be the name of a claim.'
        hint = "Use lower-case letters, digits, `-` and `.`, beginning and ending with a letter or digit."
        yield finding("SP210", (*base, "name"), message, hint)


def _sub_path(claim: ClaimReference, base: FieldPath) -> list[Finding]:
    return data_cube_paths.sub_path(claim.sub_path, (*base, "subPath")) if claim.sub_path else []


def _read_only(model: DataCube, claim: ClaimReference, base: FieldPath) -> Iterator[Finding]:
    if claim.read_only and side_of(model) == "sink":
        message = "A sink is written to, so it cannot be read-only."
        yield finding("SP499", (*base, "readOnly"), message, "Remove it.")


def _template(model: DataCube, claim: ClaimReference, base: FieldPath) -> Iterator[Finding]:
    if claim.template is None:
        return
    if side_of(model) == "source":
        message = "A source must hold data already, so its template makes no claim."
        yield finding("SP406", (*base, "template"), message, "Remove it.", anchor=Anchor.KEY)
        return
    yield from _metadata(claim, (*base, "template", "metadata"))
    yield from _spec(claim.template.get("spec") or {}, (*base, "template", "spec"))


def _metadata(claim: ClaimReference, path: FieldPath) -> Iterator[Finding]:
    given = (claim.template or {}).get("metadata") or {}
    for key in sorted(given.keys() - _COPIED):
        if key != "name" or given[key] != claim.name:
            message = f"`{key}` has no effect: the claim is {claim.name}, in the namespace of the cube."
            yield finding("SP406", (*path, key), message, "Remove it.", anchor=Anchor.KEY)


def _spec(spec: Json, path: FieldPath) -> Iterator[Finding]:
    modes = spec.get("accessModes") or []
    if not modes:
        message = "The claim has no access modes."
        yield finding("SP499", (*path, "accessModes"), message, "Give for example `accessModes: [ReadWriteMany]`.")
    elif not any(mode in modes for mode in WRITABLE):
        message = f"Nobody could write to a claim with {', '.join(map(str, modes))}."
        yield finding("SP499", (*path, "accessModes"), message, f"Use one of {', '.join(sorted(WRITABLE))}.")
    size = amount(((spec.get("resources") or {}).get("requests") or {}).get("storage"))
    if size is None or size <= 0:
        message = "The claim asks for no size."
        hint = "Give `resources.requests.storage`, such as `100Gi`."
        yield finding("SP499", (*path, "resources", "requests", "storage"), message, hint)
    if spec.get("volumeMode", "Filesystem") != "Filesystem":
        message = f"Found {spec['volumeMode']}; files need a file system."
        yield finding("SP499", (*path, "volumeMode"), message, "Remove it, or write Filesystem.")
