"""Fetch and checkout of one commit in one repository, and of its submodules in theirs."""

import os
from dataclasses import dataclass

from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git.address import Address
from stowplan.agents.transfer.remotes.git.commit import contents as trees
from stowplan.agents.transfer.remotes.git.commit.contents import Contents
from stowplan.agents.transfer.remotes.git.lfs.objects import LfsContent
from stowplan.agents.transfer.remotes.git.program.git import Git
from stowplan.agents.transfer.remotes.git.remote import WantedRef, find
from stowplan.agents.transfer.remotes.git.repository import FETCHED, Repository
from stowplan.agents.transfer.remotes.git.work_tree import Checkout
from stowplan.schema.agents.exit_codes import ExitCode

ROUNDS = 3
"""Maximum number of fetches if the branch moves each time between the look-up of its commit and the fetch."""

_LINK = ".git"
"""Name of the file in the work tree of a submodule with the path of Git's own directory."""

DEEPEST = 10
"""Maximum depth of nested submodules."""


@dataclass
class CommitCheckout:
    """Brings a commit into one repository of the claim: fetch, checkout, Git LFS objects and submodules."""

    repository: Repository
    address: Address
    completion: Completion | None
    """Completion files; None for a new clone in its hidden directory, which no other program uses yet."""
    depth: int = 0
    """Number of repositories around this submodule; 0 for the repository of the spec."""
    inside: str = ""
    """Path of this submodule in the repository of the spec, with a `/` at its end; empty for that repository itself."""

    @property
    def _git(self) -> Git:
        return self.repository.git

    def run(self, wanted: WantedRef, ref: str | None, *, fresh: bool) -> tuple[WantedRef, str]:
        """Fetch and check out a commit; return the final target and the full name of its commit.

        The final target differs from `wanted` if the branch moved meanwhile. `ref` is the ref of the spec, None for
        HEAD. `fresh` is True for a clone that this transfer creates, where no edited files can be lost. Sets the
        outcome's revision, and counts in the progress. Raises AttemptError: 5 if edits or commits would be lost.
        """
        checkout = Checkout(self.repository)
        if fresh:
            checkout.clear()
        else:
            checkout.guard()
        wanted, commit = self._fetched(wanted, ref)
        if not self.depth:
            self._git.work.outcome.revision = commit
        if not fresh:
            checkout.guard_commits(wanted, commit)
        contents = trees.read(self.repository, commit, lfs=self._git.settings.remote.lfs)
        content = LfsContent(self.repository, self.address, commit, contents)
        self._count(contents, content, fresh=fresh)
        content.fetch()
        self._check_out(checkout, wanted, commit, contents, fresh=fresh)
        trees.check(self.repository, commit, contents)
        self._leave_out(contents)
        self._submodules(commit, contents, fresh=fresh)
        self.repository.private.publish()
        with self.repository.folder(self.repository.path) as folder:
            folder.sync_all()
        content.remember()
        progress = self._git.work.progress
        progress.add(files=contents.files, resumed=contents.size - sum(contents.objects.values()))
        return wanted, commit

    def _check_out(
        self, checkout: Checkout, wanted: WantedRef, commit: str, contents: Contents, *, fresh: bool
    ) -> None:
        """Check out the commit and its Git LFS files, unless an existing clone already has both."""
        if fresh or not checkout.is_at(wanted, commit) or checkout.pointers(contents):
            if self.completion:
                self.completion.begin()
            if fresh or not checkout.is_at(wanted, commit):
                checkout.run(wanted, commit, force=fresh)
            checkout.smudge(contents)
        else:
            self._git.work.progress.files_unchanged += contents.files

    def _count(self, contents: Contents, content: LfsContent, *, fresh: bool) -> None:
        """Add the files of the commit to the progress. Raises AttemptError (5) if the claim has too little space."""
        progress, missing = self._git.work.progress, content.missing()
        progress.files_total += contents.files
        progress.bytes_total += contents.size
        progress.add(resumed=sum(contents.objects.values()) - sum(missing.values()))
        # Git LFS stores a second copy next to the file.
        files = sum(each.size for each in contents.pointers.values() if each.oid in missing)
        needed = sum(missing.values()) + (contents.size if fresh else files)
        space = os.statvfs(self.repository.path)
        free = space.f_bavail * space.f_frsize
        # Some network file systems report no size, or no number of files, at all.
        if space.f_blocks and needed > free:
            message = f"{needed} bytes are needed, with the copies that Git LFS keeps, and {free} are free"
            raise AttemptError(ExitCode.CONFLICT, "NoSpace", message)
        if fresh and space.f_files and contents.files > space.f_favail:
            message = f"The commit has {contents.files} files, and the claim has space for {space.f_favail}"
            raise AttemptError(ExitCode.CONFLICT, "NoSpace", message)

    def _fetched(self, wanted: WantedRef, ref: str | None) -> tuple[WantedRef, str]:
        """Fetch the target unless it is present; return the final target and the full name of its commit."""
        for _ in range(ROUNDS):
            if self._is_there(wanted):
                break
            try:
                self._fetch(wanted)
                break
            except AttemptError as error:
                if error.reason != "NoSuchRef":
                    raise
            if wanted.kind == "commit":
                self._fetch_all()
                break
            # The branch has moved, and the server no longer has the old commit.
            wanted = find(self._git, self.address, ref) or wanted
        commit = self.repository.commit(wanted.object or wanted.name)
        if commit is None and wanted.kind in ("branch", "ref"):
            message = f"{wanted} of {self.address.url} moved each time that it was fetched"
            raise AttemptError(ExitCode.TRANSIENT, "Moved", message)
        if commit is None:
            message = f"{self.address.url} has no {wanted}, or more than one"
            raise AttemptError(ExitCode.NOT_FOUND, "NoSuchRef", message)
        return wanted, commit

    def _is_there(self, wanted: WantedRef) -> bool:
        """Return whether an earlier attempt has completely fetched the target, with the wanted depth of history."""
        if not wanted.commit or self.repository.commit(FETCHED) != wanted.commit:
            return False
        tag = wanted.kind != "tag" or self._git.tried(self.repository.place, "cat-file", "-e", wanted.object).code == 0
        return tag and (self._git.settings.remote.depth is not None or not self.repository.is_shallow)

    def _fetch(self, wanted: WantedRef) -> None:
        if wanted.kind == "abbreviation":
            self._fetch_all()
            return
        depth = self._git.settings.remote.depth
        self._online([f"--depth={depth}"] if depth else [], [f"+{wanted.object}:{FETCHED}"])

    def _fetch_all(self) -> None:
        """Fetch all branches and tags: the server refuses to send the commit by name, or the name is abbreviated."""
        self._online([], ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"])
        self._git.offline(self.repository.place, "pack-refs", "--all")

    def _online(self, options: list[str], refs: list[str]) -> None:
        """Run `git fetch` for these refspecs. The server may send no more bytes than the claim has free space."""
        options = [*options, *(["--unshallow"] if not options and self.repository.is_shallow else [])]
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", *options)
        what = f"Fetching from {self.address.url}"
        space = os.statvfs(self.repository.path)
        # Some network file systems report no size at all.
        free = space.f_bavail * space.f_frsize if space.f_blocks else 1 << 50
        self._git.online(self.repository.place, *words, "--", self.address.url, *refs, what=what, limit=free)
        self.repository.private.publish()

    def _leave_out(self, contents: Contents) -> None:
        """Count what the commit names and this transfer does not bring: content of pointers, and submodules."""
        progress = self._git.work.progress
        for path in contents.bare_pointers:
            progress.leave_out("pointer", f"{self.inside}{path}")
        if not self._git.settings.remote.submodules:
            for path in contents.submodules:
                progress.leave_out("submodule", f"{self.inside}{path}")

    def _submodules(self, commit: str, contents: Contents, *, fresh: bool) -> None:
        """Fetch and check out the submodules of the commit, if the spec asks for them.

        Raises AttemptError (5) if one is on another host, nested too deep, or in the Git directory of another one.
        """
        if not self._git.settings.remote.submodules or not contents.submodules:
            return
        if self.depth >= DEEPEST:
            raise AttemptError(ExitCode.CONFLICT, "Submodules", f"Submodules are nested more than {DEEPEST} times")
        known, settings = self._known_submodules(commit), self._git.settings
        names = {name for name, _ in known.values()}
        for path, name in contents.submodules.items():
            inside, url = known.get(path, ("", ""))
            address = self.address.below(url)
            if any(inside.startswith(f"{other}/") for other in names):
                message = f"The submodule {path!r} would lie in the Git directory of another one, so nothing was taken"
                raise AttemptError(ExitCode.CONFLICT, "Submodules", message)
            if address is None or not settings.hosts.is_own(address.host) or not _is_name(inside):
                message = f"The submodule {path!r} is not on the host of {settings.address.url}, so nothing was taken"
                raise AttemptError(ExitCode.CONFLICT, "OtherHost", message)
            repository = Repository(
                self.repository.path / path, self._git, self.repository.directory / "modules" / inside
            )
            inner = CommitCheckout(repository, address, self.completion, self.depth + 1, f"{self.inside}{path}/")
            inner.adopt(WantedRef("commit", name, name, name), fresh=fresh)

    def adopt(self, wanted: WantedRef, *, fresh: bool) -> None:
        """Do what `run` does for a submodule, whose place may be new. `fresh`: whether the clone around it is new.

        Raises AttemptError (5) if something else is in its place.
        """
        repository, address, path = self.repository, self.address, self.repository.path
        text = f"gitdir: {os.path.relpath(repository.directory, path)}\n"
        with self.repository.folder(path) as files:
            new = files.stat(_LINK) is None
            if files.entries(1) if new else files.read(_LINK, len(text)) != text.encode():
                raise AttemptError(ExitCode.CONFLICT, "NotARepository", f"{path} is no place for a submodule")
            if (repository.directory / "HEAD").exists():
                repository.adopt(address)
            else:
                repository.remove()
                repository.make(address, length=len(wanted.name))
            files.write(_LINK, text)
        self.run(wanted, wanted.name, fresh=fresh or new)

    def _known_submodules(self, commit: str) -> dict[str, tuple[str, str]]:
        """Return (name, URL) of each submodule by its path, from the file `.gitmodules` of the commit."""
        words = ("config", f"--blob={commit}:.gitmodules", "--no-includes", "--null", "--list")
        fields: dict[str, dict[str, str]] = {}
        for each in os.fsdecode(self._git.tried(self.repository.place, *words).output).split("\0")[:-1]:
            key, _, value = each.partition("\n")
            name, _, field = key.removeprefix("submodule.").rpartition(".")
            fields.setdefault(name, {})[field] = value
        return {each["path"]: (name, each["url"]) for name, each in fields.items() if {"path", "url"} <= each.keys()}


def _is_name(text: str) -> bool:
    """Return whether a submodule's name is a relative path without empty segments, `.` and `..`."""
    return bool(text) and not {"", ".", ".."} & set(text.split("/"))
