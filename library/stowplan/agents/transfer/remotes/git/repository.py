"""Repository in the claim: checks and cleaning before its use, its configuration, and look-up of its refs."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_name, remove, walk
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import in_url
from stowplan.agents.transfer.remotes.git.address import Address
from stowplan.agents.transfer.remotes.git.program import gitdir
from stowplan.agents.transfer.remotes.git.program.git import Git, GitPlace
from stowplan.schema.agents.exit_codes import ExitCode

FETCHED, CHECKED_OUT = "refs/stowplan/fetched", "refs/stowplan/checked-out"
"""Names of refs that this program sets: to the commit of the last complete fetch, and to that of the last checkout."""

_LEFT = re.compile(
    r"[^/]*\.lock|refs/.*\.lock|objects/[^/]*\.lock"
    r"|objects/(pack/)?(tmp_pack_|tmp_idx_|tmp_rev_|tmp_obj_|\.tmp-)[^/]*|objects/[^/]*/tmp_obj_[^/]*"
    # Git LFS resumes only `.part` files, and never removes the others.
    r"|lfs/incomplete/(?!.*\.part$)[^/]*",
    re.DOTALL,
)
"""Paths of files that killed Git programs leave in Git's own directory."""


@dataclass(frozen=True)
class Repository:
    """Repository whose work tree is `path`. Git's own directory is `.git` in it, except for a submodule."""

    path: Path
    git: Git
    elsewhere: Path | None = None
    """Git's own directory of a submodule, which is inside of the outer repository's; None for `.git` in `path`."""

    @property
    def place(self) -> GitPlace:
        """Paths of the repository as the runner of Git needs them."""
        return GitPlace(self.directory, self.path)

    @property
    def directory(self) -> Path:
        """Git's own directory."""
        return self.elsewhere or self.path / ".git"

    def folder(self, path: Path, *, create: bool = False) -> ClaimFolder:
        """Open a folder of the repository, such as `directory`, without following a link in the claim."""
        claim = self.git.settings.common.claim
        return ClaimFolder.at(claim, str(path.relative_to(claim)), create=create)

    def make(self, address: Address, *, length: int) -> None:
        """Create an empty repository with this origin. Commit names of `length` 64 mean SHA-256, others SHA-1."""
        self.folder(self.directory, create=True).close()
        words = ("init", "--quiet", "--template=", f"--object-format={'sha256' if length == 64 else 'sha1'}")
        self.git.offline(self.place, *words)
        self.set("remote.origin.url", address.url)
        self.set("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")

    def remove(self) -> None:
        """Remove Git's own directory, if there is one."""
        with suppress(FileNotFoundError), self.folder(self.directory.parent) as folder:
            remove(folder, self.directory.name)

    def set(self, key: str, value: str) -> None:
        """Set a value in the configuration file of the repository."""
        self.git.offline(self.place, "config", "--local", "--replace-all", key, value)

    def check(self, address: Address) -> None:
        """Raise AttemptError (5) if the path is no repository, or one that is unsafe or a clone of another address.

        It is unsafe if its files or settings could lead Git to other files or servers. Credentials in the URLs of its
        remotes are removed; TensorStack's DataCube controller stored them there.
        """
        inside = self.directory
        whole = is_directory(self.path) and is_directory(inside) and (inside / "HEAD").is_file()
        if not whole:
            message = f"{self.path} exists, but is no Git repository, so {address.url} cannot be cloned there"
            raise AttemptError(ExitCode.CONFLICT, "NotARepository", message)
        gitdir.check(inside)
        foreign = gitdir.unknown(key for key, _ in self.settings())
        if foreign:
            names = ", ".join(addresses_removed(key) for key in foreign[:10])
            message = (
                f"{inside / 'config'} has settings that could lead Git elsewhere or change what it checks out: {names}."
                " Remove them: a clone may have only those that `git clone`, `git lfs` and a person who commits write"
            )
            raise AttemptError(ExitCode.CONFLICT, "ForeignConfig", message)
        self._clean_urls()
        origin = next((value for key, value in self.settings() if key == "remote.origin.url"), "")
        if not address.is_same(origin):
            message = f"{self.path} is a clone of {addresses_removed(origin) or 'nothing'}, not of {address.url}"
            raise AttemptError(ExitCode.CONFLICT, "OtherOrigin", message)

    def settings(self) -> Iterator[tuple[str, str]]:
        """Yield (name, value) for each setting in the configuration file of the repository.

        Names are in lower case, except for their middle part, such as the branch in `branch.Main.remote`.
        """
        words = ("config", "--file", str(self.directory / "config"), "--no-includes", "--null", "--list")
        for each in os.fsdecode(self.git.offline(None, *words)).split("\0")[:-1]:
            key, _, value = each.partition("\n")
            yield key, value

    def _clean_urls(self) -> None:
        """Remove credentials from the URLs of remotes in the configuration file."""
        for key, value in list(self.settings()):
            if key.startswith("remote.") and key.endswith("url") and in_url(value):
                self.set(key, addresses_removed(value))
                self.git.work.log.info("Took the credentials out of the repository's configuration", setting=key)

    def clear_locks(self) -> None:
        """Delete lock files and temporary files of killed Git programs. Call it only while no Git program runs here."""
        with self.folder(self.directory) as inside:
            for path, entry, folder in walk(inside, by_name, lambda path, _: path in ("lfs/objects", "modules")):
                if not entry.is_folder and _LEFT.fullmatch(path):
                    folder.remove_file(entry.name)

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
        return (self.directory / "shallow").exists()


def is_directory(path: Path) -> bool:
    """Return whether the path is a directory, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def addresses_removed(text: str) -> str:
    """Return the string without the user names and passwords in its URLs."""
    return re.sub(r"(?<=://)[^/\s]*@", "", text)
