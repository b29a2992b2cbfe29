"""Output to compare with: the present folder, or the folder in a commit."""

from pathlib import Path

from stowplan.compiler.output.folder import scan
from stowplan.compiler.repository import commit


def on_disk(out: Path) -> dict[str, bytes]:
    """Return the files below a folder by path; empty if there is no folder."""
    tree = scan(out)
    return {path: content for path in sorted(tree.files) if (content := tree.read(path)) is not None}


def at_commit(out: Path, revision: str) -> dict[str, bytes]:
    """Return the files below a folder in a commit by path; empty if the commit has no such folder.

    Raises `BaseError`.
    """
    folder = commit.at_commit(out, revision)
    return folder.read(folder.blobs)
