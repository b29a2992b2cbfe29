"""Output of environments that the platform file does not have any more."""

from collections.abc import Collection, Iterable
from pathlib import Path

from stowplan.schema.diagnostics import Finding, finding


def leftovers(out: Path, names: Collection[str], holders: Iterable[Path]) -> list[str]:
    """Return those of `holders`, folders with an inventory, that belong to none of the targets `names`, sorted.

    They are given and returned below or as `out`: as "" for itself, else relative to it.
    """
    folders = (each.relative_to(out).as_posix() for each in holders)
    return sorted({"" if each == "." else each for each in folders}.difference(names))


def leftover(folder: str) -> Finding:
    """Return SP808 for a folder, relative to the output folder, that belongs to no environment."""
    if not folder:
        message = "This output was written before the platform file had environments. Nothing would update it."
        hint = (
            "Run `stowplan adopt NAME` with the name of the environment, or `environment/cluster`, whose runs and"
            " datasets these are: nothing is deleted then, and nothing runs again."
        )
    else:
        message = f"The platform file has no environment or cluster {folder}, and nothing would update its output."
        hint = "Bring the environment back, or delete its Applications from Argo CD and then this folder."
    return finding("SP808", (), message, hint)
