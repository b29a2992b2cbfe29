"""The output to compare with: the folder as it is, or as a commit has it."""

from pathlib import Path

from stowplan.compiler.output.folder import scan
from stowplan.compiler.repository import commit


def on_disk(out: Path) -> dict[str, bytes]:
    """The files below a folder, by path; none where there is no folder."""
    tree = scan(out)
    return {path: content for path in sorted(tree.files) if (content := tree.read(path)) is not None}


def at_commit(out: Path, revision: str) -> dict[str, bytes]:
    """The files below a folder as a commit has them; none where it has no such folder. Raises `BaseError`."""
    folder = commit.at_commit(out, revision)
    return folder.read(folder.blobs)
