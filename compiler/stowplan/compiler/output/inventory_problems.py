"""What is said of an inventory that is broken or lost, at the file concerned."""

from pathlib import Path

from stowplan.compiler.diagnostics.report import Diagnostic, diagnose_at
from stowplan.compiler.output import inventory_files, paths
from stowplan.compiler.output.inventory_files import OLD
from stowplan.schema.diagnostics import finding
from stowplan.schema.meta import SpecId


def broken(out: Path, path: str, line: int, reason: str) -> Diagnostic:
    """Return SP511: the file `path` below `out` is broken from `line` (from 1) on; the clause `reason` says why."""
    message = f"The inventory of the last command cannot be read: {reason}. {_WITHOUT}"
    hint = (
        f"{_restore(out, path)}, or use the version of Stowplan that wrote it. After a merge, take one side of it with"
        f" `git checkout --theirs {_named(out, path)}` and run `stowplan synth`. {_RENEW}"
    )
    return diagnose_at(paths.location(out, path, line), finding("SP511", (), message, hint))


def missing(out: Path) -> Diagnostic:
    """Return the diagnostic SP516: the output folder `out` has generated files but no inventory."""
    message = f"The output holds files of an earlier command, but not its inventory. {_WITHOUT}"
    hint = (
        f"{_restore(out, paths.INVENTORY)} (version 0.1.0 had `{OLD}` in its place); see that no .gitignore keeps it"
        f" out. {_RENEW}"
    )
    return diagnose_at(paths.location(out, paths.INVENTORY), finding("SP516", (), message, hint))


def missing_of(spec: SpecId, folder: str, out: Path) -> Diagnostic:
    """Return SP516 for a spec without an entry in the inventory, although `folder`, a path in `out`, has its files."""
    path = inventory_files.of_spec(spec)
    message = f"{folder} holds files of an earlier command, but the inventory has none of {spec}. {_WITHOUT}"
    hint = (
        f"{_restore(out, path)}; see that no .gitignore keeps it out. If it is lost, `stowplan synth --recompile"
        f" '{spec}'` makes a new one: look in the diff for Jobs with new names, which would run again."
    )
    return diagnose_at(paths.location(out, path), finding("SP516", (), message, hint))


_WITHOUT = "It says which runs are reused and which files may be removed, so by default nothing is written without it."
_RENEW = (
    "If it is lost, `stowplan synth --recompile all` makes a new one: look in the diff for Jobs with new names, which"
    " would run again."
)


def _restore(out: Path, path: str) -> str:
    return f"Restore it with `git checkout {_named(out, path)}`"


def _named(out: Path, path: str) -> str:
    return paths.location(out, path).file
