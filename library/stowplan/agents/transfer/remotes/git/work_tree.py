"""Checkout of a commit that never overwrites changes which people or other programs made in the claim."""

import os
import posixpath
import re
from collections.abc import Collection
from contextlib import closing, suppress
from dataclasses import dataclass

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import remove
from stowplan.agents.attempt.failure import SHOWN, AttemptError
from stowplan.agents.transfer.remotes.git import edits
from stowplan.agents.transfer.remotes.git.commit import attributes
from stowplan.agents.transfer.remotes.git.commit.contents import Contents
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import POINTER_LIMIT
from stowplan.agents.transfer.remotes.git.remote import WantedRef
from stowplan.agents.transfer.remotes.git.repository import CHECKED_OUT, Repository
from stowplan.schema.agents.exit_codes import ExitCode

JOURNAL = "stowplan-checkout"
"""File in Git's own directory that exists during a checkout. It holds the old and the new commit."""

_JOURNAL = re.compile(rb"((?:[0-9a-f]{40}|[0-9a-f]{64})?) ([0-9a-f]{40}|[0-9a-f]{64})\n?")
_LONGEST_JOURNAL = 200


@dataclass(frozen=True)
class Checkout:
    """Checkout of commits in the work tree of one repository."""

    repository: Repository

    def guard(self) -> None:
        """Finish the checkout of a killed attempt; then raise AttemptError (exit code 5) if tracked files were edited.

        The error is also raised if the index hides edits from Git.
        """
        self._check_index()
        self._finish()
        # Git may update its index: the files of a fresh clone are as young as the index, so Git must read them once.
        edited = edits.find(self.repository, refresh=True).edited
        if edited:
            names = ", ".join(map(repr, edited[:SHOWN]))
            message = f"{len(edited)} files of {self.repository.path} have changes that nobody committed: {names}"
            raise AttemptError(ExitCode.CONFLICT, "Dirty", message)

    def _check_index(self) -> None:
        """Raise AttemptError (exit code 5) if others have changed the index so that a checkout would harm.

        It may mark files as unchanged, which hides edits from Git. It may also name paths outside of the work tree,
        from which Git would delete files.
        """
        marked: list[str] = []
        for record in self.repository.git.records(self.repository.place, "ls-files", "-v", "-z"):
            path = os.fsdecode(record[2:])
            if {"", ".", "..", ".git"} & set(path.lower().split("/")):
                message = f"The index of {self.repository.path} names {path!r}, which is no path of a file in it"
                raise AttemptError(ExitCode.CONFLICT, "UnsafeKeys", message)
            # `S` is skip-worktree; small letters are assume-unchanged (git-ls-files(1)).
            if (record[:1] == b"S" or record[:1].islower()) and len(marked) < SHOWN:
                marked.append(path)
        if marked:
            names = ", ".join(map(repr, marked))
            message = (
                f"The index of {self.repository.path} hides changes of files from Git (skip-worktree or"
                f" assume-unchanged): {names}. `git update-index --no-skip-worktree --no-assume-unchanged` shows them"
            )
            raise AttemptError(ExitCode.CONFLICT, "HiddenChanges", message)

    def guard_commits(self, wanted: WantedRef, commit: str) -> None:
        """Raise AttemptError (exit code 5) if a checkout of `commit` would lose commits that were made in the claim.

        Only commits on HEAD and on the wanted branch count.
        """
        repository = self.repository
        for name in ("HEAD", *((wanted.name,) if wanted.kind == "branch" else ())):
            there = repository.commit(name)
            if there is None or there in (commit, repository.commit(CHECKED_OUT)) or self._is_older(there, commit):
                continue
            if not self._is_of_origin(there):
                message = (
                    f"{repository.path} has commits of its own ({name} is at {there[:12]}), and the source is at"
                    f" {commit[:12]}: push or remove them first"
                )
                raise AttemptError(ExitCode.CONFLICT, "LocalCommits", message)

    def is_at(self, wanted: WantedRef, commit: str) -> bool:
        """Return whether the commit is checked out on the wanted branch, or with a detached HEAD if none is wanted."""
        branch = wanted.name if wanted.kind == "branch" else None
        return self.repository.commit("HEAD") == commit and self.repository.branch() == branch

    def clear(self) -> None:
        """Delete the index and all files of the work tree, which an earlier attempt began to fill in a hidden clone."""
        with self.repository.folder(self.repository.path) as files:
            for each in files.entries():
                if each.name != ".git":
                    remove(files, each.name)
        (self.repository.private.path / "index").unlink(missing_ok=True)

    def run(self, wanted: WantedRef, commit: str, *, force: bool) -> None:
        """Check out the commit, and set the refs that a clone would have. `force` overwrites edited files.

        Without `force`, raises AttemptError (5) if a file of the claim would be overwritten.
        """
        self._move(self.repository.commit("HEAD") or "", commit, force=force)
        self._name(wanted, commit)
        self.repository.private.publish()
        self._forget()

    def pointers(self, contents: Contents) -> list[str]:
        """Return the paths of Git LFS files that are missing, or whose size is not that of their object."""
        return [path for path, each in contents.pointers.items() if self._size(path) != each.size]

    def smudge(self, contents: Contents) -> None:
        """Replace pointers in the work tree, as Git without Git LFS writes them, by the content of their objects.

        Raises AttemptError (exit code 11) if a file has another size than its object afterwards.
        """
        stale = [path for path in self.pointers(contents) if (self._size(path) or 0) < POINTER_LIMIT]
        if stale:
            self._remove(stale)
            self._write(stale)
        left = self.pointers(contents)
        if left:
            names = ", ".join(map(repr, left[:SHOWN]))
            message = f"{len(left)} files do not hold what Git LFS keeps for them: {names}"
            raise AttemptError(ExitCode.INTEGRITY, "Pointers", message)

    def _inside(self) -> ClaimFolder:
        """Open Git's own directory."""
        return self.repository.folder(self.repository.directory)

    def _forget(self) -> None:
        """Remove the file that exists during a checkout."""
        with self._inside() as inside:
            inside.remove_file(JOURNAL)

    def _move(self, before: str, commit: str, *, force: bool) -> None:
        """Check out a commit with a detached HEAD. `before` is the present commit; empty if there is none."""
        with self._inside() as inside:
            inside.write(JOURNAL, f"{before} {commit}\n")
        changed = self._changed(before, commit)
        # Git would take them for edited.
        converted = [] if force else changed.intersection(edits.find(self.repository, refresh=False).converted)
        self._remove(converted)
        words = ("checkout", "--quiet", *(("--force",) if force else ()), "--detach", commit)
        try:
            self.repository.git.offline(self.repository.place, *words)
        except AttemptError as error:
            if error.reason == "Dirty":
                # Git checks everything before the first change, so the checkout has not begun.
                self._write(converted)
                self._forget()
            raise
        again = self._converted_otherwise(before, commit, changed)
        self._remove(again)
        self._write(again)

    def _remove(self, paths: Collection[str]) -> None:
        """Remove files of the work tree, as far as they exist."""
        with closing(self.repository.tree(self.repository.path, create=False)) as tree:
            for path in paths:
                with suppress(FileNotFoundError):
                    tree.remove(path)

    def _write(self, paths: Collection[str]) -> None:
        """Check out files of the index that the work tree lacks."""
        if paths:
            feed = b"".join(os.fsencode(path) + b"\0" for path in paths)
            words = ("checkout", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
            self.repository.git.offline(self.repository.place, *words, feed=feed)

    def _name(self, wanted: WantedRef, commit: str) -> None:
        """Set the refs that a clone would have, all at once, and then let HEAD point to the branch if one is wanted."""
        repository, lines = self.repository, [f"update {CHECKED_OUT} {commit}"]
        if wanted.kind == "branch":
            lines += [f"update {wanted.name} {commit}", f"update refs/remotes/origin/{wanted.short} {commit}"]
        elif wanted.kind == "tag":
            lines.append(f"update {wanted.name} {wanted.object}")
        feed = os.fsencode("".join(f"{line}\n" for line in lines))
        repository.git.offline(repository.place, "update-ref", "--stdin", feed=feed)
        if wanted.kind == "branch":
            repository.git.offline(repository.place, "symbolic-ref", "HEAD", wanted.name)
            repository.set(f"branch.{wanted.short}.remote", "origin")
            repository.set(f"branch.{wanted.short}.merge", wanted.name)

    def _finish(self) -> None:
        """Finish the checkout of a killed attempt, unless files are edited that this checkout does not change."""
        with self._inside() as inside:
            journal = inside.read(JOURNAL, _LONGEST_JOURNAL)
        found = _JOURNAL.fullmatch(journal or b"")
        if not found:
            return
        before, commit = found[1].decode(), found[2].decode()
        touched = self._changed(before, commit)
        touched |= self._converted_otherwise(before, commit, touched)
        if touched.issuperset(edits.find(self.repository, refresh=False).edited):
            self._move(before, commit, force=True)
            self.repository.git.offline(self.repository.place, "update-ref", CHECKED_OUT, commit)
            self.repository.private.publish()
            self._forget()

    def _changed(self, before: str, commit: str) -> set[str]:
        """Return the paths that differ between two commits; all paths of `commit` if `before` is empty."""
        before = before or self.repository.git.offline(self.repository.place, "mktree").decode().strip()
        words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, commit)
        return {os.fsdecode(each) for each in self.repository.git.offline(self.repository.place, *words).split(b"\0")}

    def _converted_otherwise(self, before: str, commit: str, changed: set[str]) -> set[str]:
        """Return the files that are the same in both commits, and that a checkout now converts in another way.

        Git itself would leave them as they are. `changed` are the paths that differ between the commits.
        """
        if not before or all(posixpath.basename(path) != attributes.NAME for path in changed):
            return set()
        return attributes.converted_otherwise(self.repository, before, commit) - changed

    def _is_older(self, commit: str, than: str) -> bool:
        """Return whether `commit` is an ancestor of `than`."""
        words = ("merge-base", "--is-ancestor", commit, than)
        return self.repository.git.tried(self.repository.place, *words).code == 0

    def _is_of_origin(self, commit: str) -> bool:
        """Return whether a fetched branch or a tag contains the commit."""
        words = ("for-each-ref", "--count=1", f"--contains={commit}", "refs/remotes", "refs/tags")
        return bool(self.repository.git.tried(self.repository.place, *words).output)

    def _size(self, path: str) -> int | None:
        """Return the size of a file in bytes; None if it does not exist."""
        try:
            return (self.repository.path / path).lstat().st_size
        except OSError:
            return None
