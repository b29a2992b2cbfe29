"""The output that `diff` compares with: the output folder as it is, or the output folder in a commit."""

from pathlib import Path

from stowplan.compiler.output.folder import scan
from stowplan.compiler.repository import commit


def on_disk(out: Path) -> dict[str, bytes]:
    """Return the contents of all files below the output folder, by path; empty if there is no such folder."""
    tree = scan(out)
    return {path: content for path in sorted(tree.files) if (content := tree.read(path)) is not None}


def at_commit(out: Path, revision: str) -> dict[str, bytes]:
    """Return the contents of all files below the output folder in a commit, by path; empty if the commit lacks it.

    Raises `BaseError` if the commit cannot be read.
    """
    folder = commit.at_commit(out, revision)
    return folder.read(folder.blobs)
