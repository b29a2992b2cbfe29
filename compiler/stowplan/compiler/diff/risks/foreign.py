"""Entries of the output folder that the specs do not make: Argo CD may read them, so a reviewer sees them first."""

from collections.abc import Mapping, Sequence

from stowplan.compiler.diff.change import Action, Change, Danger, Risk
from stowplan.compiler.output.folder import Tree
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Rendered, carries_header
from stowplan.compiler.output.write_plan import plan
from stowplan.schema.meta import ObjectId


def foreign(
    files: Sequence[Rendered], tree: Tree, previous: Inventory, base: Mapping[str, bytes] | None
) -> list[Change]:
    """A change for each foreign entry of `tree`, sorted by path: whatever `synth --check` refuses.

    `files` are what the specs compile to, `previous` is the inventory in `tree`. With a `base`, its files by path, only
    entries that it does not hold with the same content count; stale files of a run that is not in the base count too,
    and folders that only the base has outputs in are synced as well. Raises `OSError` where a file cannot be read.
    """
    own = [path for path, content in base.items() if carries_header(content)] if base else []
    planned = plan(files, tree, previous, own)
    found = {*planned.blocked, *planned.disowned, *planned.orphaned, *planned.intruders}
    found |= {path for path in tree.leftovers if "/" in path}
    if base is not None:
        found = {path for path in (*found, *planned.stale) if path not in base or base[path] != tree.read(path)}
    return [_change(path) for path in sorted(found)]


def _change(path: str) -> Change:
    risk = Risk(Danger.SECURITY, f"No spec makes {path}, but Argo CD reads this folder. Remove it.")
    return Change(Action.FOREIGN, path, "no spec", None, ObjectId("", "File", "", path), (), (risk,))


def without(changes: Sequence[Change], before: Mapping[str, bytes], files: Sequence[Rendered]) -> dict[str, bytes]:
    """`before` without the files of `changes`, since `synth` does not remove them; those of outputs stay."""
    foreign_paths = {change.path for change in changes} - {file.path for file in files}
    return {path: content for path, content in before.items() if path not in foreign_paths}
