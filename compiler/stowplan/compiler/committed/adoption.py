"""Taking over the output that a repository had before its platform file had environments: `stowplan adopt`.

The files move into the folder of the environment or cluster, byte for byte, so that its runs go on and its Argo CD
objects keep their names. A crash leaves some of them in either place; the command goes on when it is called again.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stowplan.compiler.committed.objects import body_of
from stowplan.compiler.environments.target import Target
from stowplan.compiler.git import commit
from stowplan.compiler.output import inventory, inventory_files, paths
from stowplan.compiler.output.folder import seen
from stowplan.compiler.output.inventory_files import is_inventory
from stowplan.compiler.output.render import HEADER_LENGTH, carries_header
from stowplan.library.delivery.argocd import IN_CLUSTER
from stowplan.schema.platform.argocd import ArgoCD


def adopt(out: Path, target: Target) -> int:
    """Move the output in `out` itself into the folder of a target; return the number of files, 0 if there is none.

    Only listed files with Stowplan's header move, the inventory last. Raises `FileExistsError` if a file is there
    already, before any is moved, and `OSError`, after which another call moves the rest. The caller holds the lock.
    """
    tree, found = seen(out), inventory.read(out)[0]
    own = [
        path for path in sorted(found.paths()) if path in tree.files and carries_header(tree.head(path, HEADER_LENGTH))
    ]
    moved = [*own, *inventory_files.present(out)]
    home = out / target.name
    for path in moved:
        if (home / path).exists():
            raise FileExistsError(home / path)
    for path in moved:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).rename(home / path)
    folders = {folder for path in moved for folder in paths.parents(path)}
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            (out / folder).rmdir()
    return len(moved)


def at_commit(target: Target, work_tree: Path, out: Path, revision: str) -> Path:
    """Return the folder in which the commit `revision` has the output of a target.

    It is the target's own folder below `out`, or `out` itself if the target has adopted that output since then.
    `work_tree` is the top of the work tree, `out` the output folder of all targets. Raises `GitError`.
    """
    own = out / target.name
    if not target.adopted or any(map(is_inventory, commit.at_commit(work_tree, own, revision).blobs)):
        return own
    return out


def other_cluster(out: Path, settings: ArgoCD) -> str:
    """Return name or URL of a cluster that Applications in `out` go to and those of `settings` would not, or empty."""
    tree = seen(out)
    before = {
        _cluster(body["spec"].get("destination", {}))
        for entry in inventory.read(out)[0].entries
        if entry.id.kind == "Application" and entry.path != paths.ROOT and (body := body_of(entry, tree))
    }
    other = sorted(before - {_cluster(settings.destination.model_dump())}) if settings.repo_url else []
    return other[0] if other else ""


def _cluster(destination: Mapping[str, Any]) -> str:
    return str(destination.get("name") or destination.get("server") or IN_CLUSTER)
