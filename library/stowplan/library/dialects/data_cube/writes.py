"""Where DataCubes write."""

from stowplan.library.dialects.data_cube import claim as data_cube_claim
from stowplan.library.dialects.data_cube import git_url, options, paths, rules
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.data_cube import DataCube


def of_cube(model: DataCube, namespace: str) -> Write | None:
    """Where a cube writes in its claim; None for one that uploads. A Git repository has a directory of its own."""
    if rules.sides(model) or data_cube_claim.side_of(model) == "source":
        return None
    claim = data_cube_claim.of_cube(model)
    parts = [paths.canonical(claim.sub_path or "")]
    if model.spec.source.type == "git":
        parts.append(git_url.directory(options.literal(model.spec.source, "url")))
    path = "/".join(part for part in parts if part)
    at: FieldPath = ("spec", "sink", "pvc", "subPath" if claim.sub_path else "name")
    template: FieldPath = ("spec", "sink", "pvc", "template") if data_cube_claim.made(model) else ()
    return Write(namespace, claim.name or "", path, bool(rules.options_of(model).sync), at, template)
