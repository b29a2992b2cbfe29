"""Contents of a folder in a commit of its Git repository."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stowplan.compiler.git.names import commit_of
from stowplan.compiler.git.work_tree import GitError, ask, place

_NO_COMMIT = re.compile("0{40}(?:0{24})?")
"""Git's null object ID, all zeros. CI services give it as the commit before the first push of a branch."""


@dataclass(frozen=True, slots=True)
class CommittedFolder:
    """A folder in a commit. `blobs` are the Git object IDs of its regular files, by path relative to the folder.

    `top` is the work tree in which Git is asked.
    """

    top: Path
    blobs: Mapping[str, str]

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of files by path, without the paths that the commit lacks. Raises `GitError`."""
        wanted = {path: self.blobs[path] for path in paths if path in self.blobs}
        contents = _contents(self.top, sorted({*wanted.values()})) if wanted else {}
        return {path: contents[blob] for path, blob in wanted.items()}


def at_commit(top: Path, folder: Path, revision: str) -> CommittedFolder:
    """Return the folder in the commit `revision`; without files if the commit lacks it or `revision` is the null ID.

    `top` is the work tree, with `folder` in it. Raises `GitError`, also if the name may mean several commits.
    """
    if _NO_COMMIT.fullmatch(revision):
        return CommittedFolder(top, {})
    own = place(top, folder)
    commit = commit_of(top, revision)
    only = ["--", own] if own else []
    listed = _entries(ask(top, "--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit, *only))
    prefix = f"{own}/" if own else ""
    return CommittedFolder(top, {path.removeprefix(prefix): blob for path, blob in listed if path.startswith(prefix)})


def merge_base(top: Path, revision: str) -> str:
    """Return the ID of the commit from which HEAD and `revision` both come, as pull requests compare with it.

    Return the commit `revision` itself if there is none, such as in a shallow clone, or if it is the null ID. `top` is
    the work tree. Raises `GitError` if it is no commit, or its name may mean several.
    """
    if _NO_COMMIT.fullmatch(revision):
        return revision
    commit = commit_of(top, revision)
    try:
        return ask(top, "merge-base", "HEAD", commit).decode().split()[0]
    except (GitError, IndexError):
        return commit


def _entries(listed: bytes) -> Iterator[tuple[str, str]]:
    """Yield path and Git object ID of each regular file; `listed` is what `git ls-tree -z` prints."""
    for line in listed.split(b"\0"):
        about, _, path = line.partition(b"\t")
        mode, _, rest = about.partition(b" ")
        if mode in (b"100644", b"100755"):
            yield path.decode("utf-8", "surrogateescape"), rest.partition(b" ")[2].decode()


def _contents(top: Path, blobs: list[str]) -> dict[str, bytes]:
    answer = ask(top, "cat-file", "--batch", given="".join(f"{each}\n" for each in blobs).encode())
    found, at = {}, 0
    for each in blobs:
        end = answer.index(b"\n", at)
        size = answer[at:end].rpartition(b" ")[2]
        if not size.isdigit():
            raise GitError(f"The repository lacks the object {each}. Fetch it, or clone the repository again.")
        found[each] = answer[end + 1 : end + 1 + int(size)]
        at = end + int(size) + 2
    return found
