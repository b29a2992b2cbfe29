"""Contents of a folder in a commit of its Git repository."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stowplan.compiler.repository.work_tree import top_of

_NO_COMMIT = re.compile("0{40}(?:0{24})?")
"""Git's null object ID, all zeros. CI services give it as the commit before the first push of a branch."""


class BaseError(Exception):
    """A base commit cannot be read; the message of the exception is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class CommittedFolder:
    """A folder in a commit. `blobs` are the Git object IDs of its regular files, by path relative to the folder.

    `holder` is the top of the work tree, in which Git is called.
    """

    holder: Path
    blobs: Mapping[str, str]

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of files by path, without the paths that the commit lacks. Raises `BaseError`."""
        wanted = {path: self.blobs[path] for path in paths if path in self.blobs}
        contents = _contents(self.holder, sorted({*wanted.values()})) if wanted else {}
        return {path: contents[blob] for path, blob in wanted.items()}


def at_commit(folder: Path, revision: str) -> CommittedFolder:
    """Return the folder in the commit `revision`; without files if the commit lacks it or `revision` is the null ID.

    Raises `BaseError`.
    """
    if _NO_COMMIT.fullmatch(revision):
        return CommittedFolder(folder, {})
    holder = _top(folder)
    found = Path(os.path.realpath(folder)).relative_to(holder).as_posix()
    place = "" if found == "." else found
    commit = _commit(holder, revision)
    only = ["--", place] if place else []
    listed = _entries(_git(holder, "ls-tree", "-r", "-z", "--full-tree", commit, *only))
    prefix = f"{place}/" if place else ""
    return CommittedFolder(
        holder, {path.removeprefix(prefix): blob for path, blob in listed if path.startswith(prefix)}
    )


def merge_base(folder: Path, revision: str) -> str:
    """Return the commit from which the present one and `revision` both come, as pull requests compare with it.

    Return `revision` itself if there is none, such as in a shallow clone. Raises `BaseError` if it is no commit.
    """
    if _NO_COMMIT.fullmatch(revision):
        return revision
    holder = _top(folder)
    commit = _commit(holder, revision)
    try:
        return _git(holder, "merge-base", "HEAD", commit).decode().split()[0]
    except (BaseError, IndexError):
        return commit


def _top(folder: Path) -> Path:
    """Return the top of the work tree of a folder. Raises `BaseError` if there is none.

    Git is called there alone. Elsewhere it may take the folder for a bare repository, with any configuration and any
    commits, since a branch may have files of these names.
    """
    top = top_of(folder)
    if top is None:
        raise BaseError(f"{folder} is not a git repository, and in none.")
    return top


def _commit(folder: Path, revision: str) -> str:
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except BaseError:
        raise BaseError(f"There is no commit {revision} here. {_way_out(folder, revision)}") from None
    return found.decode().strip()


def _way_out(folder: Path, revision: str) -> str:
    if _git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return (
            "This clone is shallow: fetch the whole history (`fetch-depth: 0` on GitHub, `GIT_DEPTH: 0` on GitLab,"
            " else `git fetch --unshallow`)."
        )
    return "Commit something first." if revision == "HEAD" else "Fetch it first."


def _entries(listed: bytes) -> Iterator[tuple[str, str]]:
    """Yield path and Git object ID of each regular file; `listed` is what `git ls-tree -z` prints."""
    for line in listed.split(b"\0"):
        about, _, path = line.partition(b"\t")
        mode, _, rest = about.partition(b" ")
        if mode in (b"100644", b"100755"):
            yield path.decode("utf-8", "surrogateescape"), rest.partition(b" ")[2].decode()


def _contents(folder: Path, blobs: list[str]) -> dict[str, bytes]:
    answer = _git(folder, "cat-file", "--batch", given="".join(f"{each}\n" for each in blobs).encode())
    found, at = {}, 0
    for each in blobs:
        end = answer.index(b"\n", at)
        size = answer[at:end].rpartition(b" ")[2]
        if not size.isdigit():
            raise BaseError(f"The repository lacks the object {each}. Fetch it, or clone the repository again.")
        found[each] = answer[end + 1 : end + 1 + int(size)]
        at = end + int(size) + 2
    return found


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    try:
        command = ["git", "--literal-pathspecs", "-C", str(folder), *arguments]
        done = subprocess.run(command, input=given, capture_output=True, check=False)  # noqa: S603
    except OSError as error:
        raise BaseError(f"git cannot be run: {error.strerror}.") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise BaseError(lines[-1] if lines else f"git {arguments[0]} failed.")
    return done.stdout
