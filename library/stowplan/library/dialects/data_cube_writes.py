"""Where DataCubes write, and whether two of them are in each other's way."""

from dataclasses import dataclass

from stowplan.library.dialects import data_cube_claim, data_cube_options, data_cube_paths, data_cube_rules, git_url
from stowplan.schema.data_cube import DataCube
from stowplan.schema.diagnostics import FieldPath, Finding, finding


@dataclass(frozen=True, slots=True)
class Write:
    """A directory of a claim that a cube writes to; `mirror` where it deletes there."""

    namespace: str
    claim: str
    path: str
    mirror: bool
    at: FieldPath


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
    return Write(namespace, claim.name or "", path, bool(data_cube_rules.options_of(model).sync), at)


def clash(own: Write, other: Write, name: str) -> list[Finding]:
    """What to say of a cube that writes where another one, `name`, does."""
    if (own.namespace, own.claim) != (other.namespace, other.claim):
        return []
    if own.path == other.path:
        message = f"{name} writes to {_place(own)} too; files of one name overwrite each other."
        hint = "Give each a `subPath` of its own."
    elif _within(own.path, other.path) and other.mirror:
        message = f"{name} mirrors {_place(other)} and would delete what is copied here."
        hint = "Choose directories that are not within each other."
    elif _within(other.path, own.path) and own.mirror:
        message = f"The mirror would delete what {name} copies to {_place(other)}."
        hint = "Choose directories that are not within each other."
    else:
        return []
    return [finding("SP320", own.at, message, hint)]


def _place(write: Write) -> str:
    return f"{write.path or 'the root'} of claim {write.claim}"


def _within(inner: str, outer: str) -> bool:
    return not outer or inner.startswith(f"{outer}/")


def made_twice(model: DataCube, other: str) -> Finding:
    """What to say of a template whose claim another cube makes already."""
    claim = data_cube_claim.of_cube(model)
    message = f"{other} makes the claim {claim.name} too."
    hint = "Leave the template at one of them; the others name the claim."
    return finding("SP321", ("spec", "sink", "pvc", "template"), message, hint)
