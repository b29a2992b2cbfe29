"""Entries of the output folder that no spec produces, which reviewers see first: Argo CD may read them."""

from collections.abc import Mapping, Sequence

from stowplan.compiler.diff.change import Action, Change, Danger, Risk
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_files import is_inventory
from stowplan.compiler.output.render import Rendered, carries_header
from stowplan.compiler.output.write_plan import plan
from stowplan.schema.meta import ObjectId


def foreign(
    files: Sequence[Rendered], tree: OutputFolder, previous: Inventory, base: Mapping[str, bytes] | None
) -> list[Change]:
    """Return a change for each foreign entry of `tree`, sorted by path: the entries that `synth --check` refuses.

    `files` is the compiled output, `previous` the inventory in `tree`. `base` has the contents of the output in the
    base commit by path; None if there is no base commit. With a `base`, an entry that the base has with the same
    content is left out. Stale files that the base does not have are added. Folders that have outputs only in the base
    are regarded as synced too. Raises `OSError` if a file cannot be read.
    """
    own = [path for path, content in base.items() if carries_header(content)] if base else []
    planned = plan(files, tree, previous, own)
    found = {*planned.foreign}
    found |= {path for path in tree.leftovers if "/" in path}
    if base is not None:
        found = {path for path in (*found, *planned.stale) if not _is_same(path, tree, base)}
    return [_change(path, strange=path in planned.strangers) for path in sorted(found) if not is_inventory(path)]


def _is_same(path: str, tree: OutputFolder, base: Mapping[str, bytes]) -> bool:
    """Whether the base has the file at a path, or all files of the folder if it ends in a slash, with this content."""
    files = [each for each in tree.files if each.startswith(path)] if path.endswith("/") else [path]
    return bool(files) and all(each in base and base[each] == tree.read(each) for each in files)


def _change(path: str, *, strange: bool) -> Change:
    where = "and it lies in the output" if strange else "but Argo CD reads this folder"
    risk = Risk(Danger.SECURITY, f"No spec makes {path}, {where}. Remove it.")
    return Change(Action.FOREIGN, path, "no spec", None, ObjectId("", "File", "", path), (), (risk,))


def without(changes: Sequence[Change], before: Mapping[str, bytes], files: Sequence[Rendered]) -> dict[str, bytes]:
    """Return `before`, contents by path, without the foreign files of `changes`, because `synth` does not remove them.

    Foreign files at the path of a compiled file in `files` stay.
    """
    foreign_paths = {change.path for change in changes} - {file.path for file in files}
    return {path: content for path, content in before.items() if path not in foreign_paths}
