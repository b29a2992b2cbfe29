"""Where DataCubes write."""

from stowplan.library.dialects import data_cube_claim, data_cube_options, data_cube_paths, data_cube_rules, git_url
from stowplan.library.dialects.claim_writes import Write
from stowplan.schema.data_cube import DataCube
from stowplan.schema.diagnostics import FieldPath


def of_cube(model: DataCube, namespace: str) -> Write | None:
    """Where a cube writes in its claim; None for one that uploads. A Git repository has a directory of its own."""
    if data_cube_rules.sides(model) or data_cube_claim.side_of(model) == "source":
        return None
    claim = data_cube_claim.of_cube(model)
    parts = [data_cube_paths.canonical(claim.sub_path or "")]
    if model.spec.source.type == "git":
        parts.append(git_url.directory(data_cube_options.literal(model.spec.source, "url")))
    path = "/".join(part for part in parts if part)
    at: FieldPath = ("spec", "sink", "pvc", "subPath" if claim.sub_path else "name")
    template: FieldPath = ("spec", "sink", "pvc", "template") if data_cube_claim.made(model) else ()
    return Write(namespace, claim.name or "", path, bool(data_cube_rules.options_of(model).sync), at, template)
