"""Taking over the output that a repository had before its platform file had environments.

The target with `adopts: .` compiles against that output as if it were its own: runs keep their names and bytes. They
are written into the folder of the target, and then the files of the old output are removed. A crash in between leaves
both, and the next command removes the old one.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from stowplan.compiler.committed.objects import body_of
from stowplan.compiler.environments.target import Target, names
from stowplan.compiler.git import commit
from stowplan.compiler.output import inventory, inventory_files, paths
from stowplan.compiler.output.folder import OutputFolder, seen
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_files import is_inventory
from stowplan.compiler.output.render import HEADER_LENGTH, Rendered, carries_header
from stowplan.library.delivery.argocd import IN_CLUSTER
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.platform.argocd import ArgoCD


def top(target: Target, out: Path) -> Path:
    """Return the output folder of all targets; `out` is that of the target."""
    return out.parents[target.name.count("/")]


def left(target: Target, out: Path) -> bool:
    """Whether the output that a target takes over, or has taken over, is still in its old place."""
    return target.adopts and inventory_files.exists(top(target, out))


def source(target: Target | None, out: Path) -> Path | None:
    """Return the folder of the output that a target takes over now; None if there is nothing to take over.

    `out` is the target's own folder, which has no complete inventory until the output is taken over.
    """
    if target is None or not target.adopts or inventory_files.is_complete(out):
        return None
    before = top(target, out)
    return before if inventory_files.exists(before) else None


def at_commit(target: Target | None, work_tree: Path, out: Path, revision: str) -> Path:
    """Return the folder whose output in the commit `revision` is that of a target: `out`, or what was taken over since.

    `work_tree` is the top of the work tree. Raises `GitError`.
    """
    if target is None or not target.adopts:
        return out
    return out if any(map(is_inventory, commit.at_commit(work_tree, out, revision).blobs)) else top(target, out)


def tree(target: Target, folder: Path) -> OutputFolder:
    """List the output to take over, in `folder`, without the folders of targets.

    A namespace may be called like an environment, so a folder of targets is left out only if it has an inventory.
    """
    found = seen(folder)
    known = names(target.source.data["environments"])
    apart = tuple(f"{name}/" for name in known if inventory_files.below(name, found.files))

    def own(paths: Iterable[str]) -> frozenset[str]:
        return frozenset(path for path in paths if not f"{path}/".startswith(apart))

    return replace(
        found,
        files=own(found.files),
        folders=own(found.folders),
        others=own(found.others),
        leftovers=own(found.leftovers),
        empty=own(found.empty),
    )


def loaded(files: Iterable[Rendered], tree: OutputFolder) -> tuple[Rendered, ...]:
    """Return the files with the contents that the output to take over has already, since they are written elsewhere."""
    return tuple(each if each.content is not None else each._replace(content=tree.read(each.path)) for each in files)


def remove(target: Target, out: Path, written: Iterable[Rendered]) -> int:
    """Remove the files of the output that a target has taken over; return their number.

    `out` is the target's folder, to which the files `written` belong. Only listed files with Stowplan's header are
    removed, the inventory last.
    """
    before = top(target, out)
    if not left(target, out):
        return 0
    found, _ = inventory.read(before)
    prefix = f"{target.name}/"
    kept = {prefix + each.path for each in written}
    present = seen(before)
    gone = [
        path
        for path in sorted(found.paths() - kept)
        if path in present.files and carries_header(present.head(path, HEADER_LENGTH))
    ]
    for path in gone:
        (before / path).unlink()
    old = inventory_files.present(before)
    for path in old:
        (before / path).unlink()
    folders = {folder for path in (*gone, *old) for folder in paths.parents(path)}
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            (before / folder).rmdir()
    return len(gone)


def moves(settings: ArgoCD, previous: Inventory, tree: OutputFolder) -> list[Finding]:
    """Return SP815 if the Applications of the output to take over would go to another cluster.

    `settings` are those of `argocd` of the target. `previous` is the inventory of that output, `tree` lists its folder.
    """
    if settings.repo_url is None:
        return []
    before = {
        _cluster(body["spec"].get("destination", {}))
        for entry in previous.entries
        if entry.id.kind == "Application" and entry.path != paths.ROOT and (body := body_of(entry, tree))
    }
    other = sorted(before - {_cluster(settings.destination.model_dump())})
    if not other:
        return []
    message = (
        f"The output that is adopted goes to the cluster {other[0]}, and this place to"
        f" {_cluster(settings.destination.model_dump())}: all runs would start again there."
    )
    return [finding("SP815", (), message, "Adopt it where the environment or cluster has the same destination.")]


def _cluster(destination: Mapping[str, Any]) -> str:
    return str(destination.get("name") or destination.get("server") or IN_CLUSTER)
