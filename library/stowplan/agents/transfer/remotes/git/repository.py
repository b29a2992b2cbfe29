"""Repository in the claim: checks and cleaning before its use, its configuration, and look-up of its refs."""

import os
import re
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import remove
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import in_url
from stowplan.agents.transfer.remotes.git.address import Address
from stowplan.agents.transfer.remotes.git.private import PrivateDirectory
from stowplan.agents.transfer.remotes.git.program import gitdir, leftovers
from stowplan.agents.transfer.remotes.git.program.git import Git, GitPlace
from stowplan.agents.transfer.remotes.git.program.lfs_filter import command
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode

FETCHED, CHECKED_OUT = "refs/stowplan/fetched", "refs/stowplan/checked-out"
"""Names of refs that this program sets: to the commit of the last complete fetch, and to that of the last checkout."""


@dataclass
class Repository:
    """Repository whose work tree is `path`. In the claim, Git's own directory is `.git` in it, except for a submodule.

    Git works with a private one, once `adopt`, `look` or `make` has returned.
    """

    path: Path
    git: Git
    elsewhere: Path | None = None
    """Git's own directory of a submodule, which is inside of the outer repository's; None for `.git` in `path`."""
    _private: PrivateDirectory | None = None

    @property
    def place(self) -> GitPlace:
        """Paths of the repository as the runner of Git needs them."""
        lfs = self.git.settings.remote.lfs
        filters = (("filter.lfs.process", command(self.private.held[0])), ("filter.lfs.required", "true"))
        return GitPlace(self.private.path, self.path, {}, filters if lfs else (), self.private.held)

    @property
    def private(self) -> PrivateDirectory:
        """Git's own directory in scratch. Raises RuntimeError before `adopt`, `look` or `make`."""
        if self._private is None:
            raise RuntimeError(f"{self.path} was not adopted")
        return self._private

    @property
    def directory(self) -> Path:
        """Git's own directory in the claim. Git itself reads and writes only the objects there."""
        return self.elsewhere or self.path / ".git"

    def folder(self, path: Path, *, create: bool = False) -> ClaimFolder:
        """Open a folder of the claim by its absolute path, such as `directory`, without links. The caller closes it."""
        claim = self.git.settings.common.claim
        return ClaimFolder.at(claim, str(path.relative_to(claim)), create=create)

    def tree(self, path: Path, *, create: bool) -> Tree:
        """Open a folder of the claim by its absolute path, for keys below it. The caller closes it."""
        claim = self.git.settings.common.claim
        return Tree(claim, str(path.relative_to(claim)), create=create)

    def make(self, address: Address, *, length: int) -> None:
        """Create an empty repository with this origin. Commit names of `length` 64 mean SHA-256, others SHA-1."""
        self.folder(self.directory / "objects/pack", create=True).close()
        self.folder(self.directory / "refs", create=True).close()
        self._private = PrivateDirectory(self.git.folder, self.folder(self.directory))
        self._begin("sha256" if length == 64 else "sha1")
        shutil.copyfile(self.private.path / "config", self.private.config)
        if self.elsewhere:
            self.set("core.worktree", os.path.relpath(self.path, self.elsewhere))
        self.set("remote.origin.url", address.url)
        self.set("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
        self.private.publish()

    def _begin(self, names: str) -> None:
        """Let Git write its own settings into the private directory. `names` is the digest that names objects."""
        place = GitPlace(self.private.path, held=self.private.held)
        self.git.offline(place, "init", "--quiet", "--template=", f"--object-format={names}")
        self.git.offline(place, "config", "core.bare", "false")

    def remove(self) -> None:
        """Remove Git's own directory, if there is one."""
        with suppress(FileNotFoundError), self.folder(self.directory.parent) as folder:
            remove(folder, self.directory.name)

    def set(self, key: str, value: str) -> None:
        """Set a value, such as `remote.origin.url`, in the claim's configuration; `private.publish` brings it there."""
        words = ("config", "--file", str(self.private.config), "--replace-all", key, value)
        self.git.offline(None, *words)

    def look(self) -> str:
        """Copy the state of an existing repository, to read it, and return the URL of its origin, which may be empty.

        Raises AttemptError (5) if the path is none, or one whose files could lead Git to other files.
        """
        self._check()
        return _origin(self._copy())

    def adopt(self, address: Address) -> None:
        """Copy the state of the clone of `address` at `path` from the claim to scratch, where Git can change it.

        Lock files and temporary files that killed Git programs left in the claim are deleted first. Credentials in the
        URLs of its remotes are removed there too; TensorStack's DataCube controller stored them.

        Raises AttemptError (5) if `path` is no repository of its own, if its files lead Git to other files, if its
        settings are not ones that a clone has, if it is a clone of another address, or if the state is too large.
        Raises AttemptError too if Git fails. Files in the claim may have been changed even then.
        """
        self._check()
        with self.folder(self.directory) as inside:
            leftovers.clear(inside)
        settings = self._copy()
        foreign = gitdir.unknown(key for key, _ in settings)
        if foreign:
            names = ", ".join(addresses_removed(key) for key in foreign[:10])
            message = (
                f"{self.directory / 'config'} has settings that could lead Git elsewhere or change what it checks out:"
                f" {names}. Remove them: a clone may have only those that `git clone`, `git lfs` and a person who"
                " commits write"
            )
            raise AttemptError(ExitCode.CONFLICT, "ForeignConfig", message)
        self._clean_urls(settings)
        origin = _origin(settings)
        if not address.is_same(origin):
            message = (
                f"{self.path} is a clone of {addresses_removed(origin) or 'nothing'}, not of {address.url}. If nothing"
                " in it is needed, remove it: the next attempt makes a new clone"
            )
            raise AttemptError(ExitCode.CONFLICT, "OtherOrigin", message)

    def _check(self) -> None:
        if not (is_directory(self.path) and is_directory(self.directory) and (self.directory / "HEAD").is_file()):
            message = f"{self.path} exists, but is no Git repository of its own"
            raise AttemptError(ExitCode.CONFLICT, "NotARepository", message)
        gitdir.check(self.directory)

    def _copy(self) -> list[tuple[str, str]]:
        """Copy the state, and return (name, value) for each setting in the configuration file of the claim.

        Names are in lower case, except for their middle part, such as the branch in `branch.Main.remote`.
        """
        self._private = PrivateDirectory(self.git.folder, self.folder(self.directory))
        words = ("config", "--file", str(self.private.config), "--no-includes", "--null", "--list")
        lines = os.fsdecode(self.git.offline(None, *words)).split("\0")[:-1]
        settings = [(key, value) for key, _, value in (line.partition("\n") for line in lines)]
        names = next((value for key, value in settings if key == "extensions.objectformat"), "sha1")
        self._begin("sha256" if names == "sha256" else "sha1")
        return settings

    def _clean_urls(self, settings: list[tuple[str, str]]) -> None:
        """Remove credentials from the URLs of remotes in the configuration file."""
        for key, value in settings:
            if key.startswith("remote.") and key.endswith("url") and in_url(value):
                self.set(key, addresses_removed(value))
                self.git.work.log.info("Took the credentials out of the repository's configuration", setting=key)
        self.private.publish()

    def commit(self, name: str) -> str | None:
        """Return the full name of the commit that a ref or commit name means; None if the repository lacks it."""
        done = self.git.tried(self.place, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return done.output.decode().strip() if done.code == 0 else None

    def branch(self) -> str | None:
        """Return the branch of HEAD as `refs/heads/…`, even if it has no commits; None if HEAD is detached."""
        done = self.git.tried(self.place, "symbolic-ref", "--quiet", "HEAD")
        return os.fsdecode(done.output).strip() if done.code == 0 else None

    @property
    def is_shallow(self) -> bool:
        """True if the repository has only a part of the history."""
        return (self.private.path / "shallow").exists()


def _origin(settings: list[tuple[str, str]]) -> str:
    return next((value for key, value in settings if key == "remote.origin.url"), "")


def is_directory(path: Path) -> bool:
    """Return whether the path is a directory, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def addresses_removed(text: str) -> str:
    """Return the string without the user names and passwords in its URLs."""
    return re.sub(r"(?<=://)[^/\s]*@", "", text)
