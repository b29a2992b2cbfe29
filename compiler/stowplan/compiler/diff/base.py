"""The output that `diff` compares with: the output folder as it is, or the output folder in a commit."""

from pathlib import Path

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.git import commit
from stowplan.compiler.output.folder import scan
from stowplan.compiler.pins import lock_file
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.yaml import reader
from stowplan.schema.lock import Lock


def on_disk(out: Path) -> dict[str, bytes]:
    """Return the contents of all files below the output folder, by path; empty if there is no such folder."""
    tree = scan(out)
    return {path: content for path in sorted(tree.files) if (content := tree.read(path)) is not None}


def at_commit(top: Path, out: Path, revision: str) -> dict[str, bytes]:
    """Return the contents of all files below the output folder in a commit, by path; empty if the commit lacks it.

    `top` is the work tree. Raises `GitError` if the commit cannot be read.
    """
    folder = commit.at_commit(top, out, revision)
    return folder.read(folder.blobs)


def lock_at_commit(top: Path, repo: Repository, revision: str) -> Lock | None:
    """Return the lock file of a repository in a commit; None if the commit has none, or one that is not valid.

    `top` is the work tree. Raises `GitError` if the commit cannot be read.
    """
    content = commit.at_commit(top, repo.folder, revision).read([repo.lock_file]).get(repo.lock_file)
    if content is None:
        return None
    documents, _ = reader.read(content.decode(errors="replace"), repo.lock_file)
    return lock_file.read(documents[0], Report()) if len(documents) == 1 else None
