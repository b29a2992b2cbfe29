"""Repository in the claim: checks before its use, and its own small state."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import in_url
from stowplan.agents.transfer.git.address import Address
from stowplan.agents.transfer.git.program import gitdir
from stowplan.agents.transfer.git.program.git import Git, GitPlace
from stowplan.schema.agents.exit_codes import ExitCode

FETCHED, CHECKED_OUT = "refs/stowplan/fetched", "refs/stowplan/checked-out"
"""Refs of the last complete fetch and of the last checkout."""

_GARBAGE = ("tmp_pack_*", "tmp_idx_*", "tmp_rev_*", "tmp_obj_*", ".tmp-*")


@dataclass(frozen=True)
class Repository:
    """Work tree in `path` with Git's own directory inside."""

    path: Path
    git: Git
    elsewhere: Path | None = None
    """Git's own directory of a submodule, which lies in that of the outer repository."""

    @property
    def place(self) -> GitPlace:
        return GitPlace(self.directory, self.path)

    @property
    def directory(self) -> Path:
        return self.elsewhere or self.path / ".git"

    def make(self, address: Address, *, length: int) -> None:
        """Create an empty repository for commit names of `length` digits."""
        self.directory.mkdir(parents=True)
        words = ("init", "--quiet", "--template=", f"--object-format={'sha256' if length == 64 else 'sha1'}")
        self.git.offline(self.place, *words)
        self.set("remote.origin.url", address.url)
        self.set("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")

    def set(self, key: str, value: str) -> None:
        self.git.offline(self.place, "config", "--local", "--replace-all", key, value)

    def check(self, address: Address) -> None:
        """Raise AttemptError (5) if it is no repository, has another origin, or would lead Git to other files.

        Credentials in the address of its origin are removed; TensorStack's DataCube controller left them there.
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
        """Yield names, in lower case except for their middle part, and values of its own configuration file."""
        words = ("config", "--file", str(self.directory / "config"), "--no-includes", "--null", "--list")
        for each in os.fsdecode(self.git.offline(None, *words)).split("\0")[:-1]:
            key, _, value = each.partition("\n")
            yield key, value

    def _clean_urls(self) -> None:
        for key, value in list(self.settings()):
            if key.startswith("remote.") and key.endswith("url") and in_url(value):
                self.set(key, addresses_removed(value))
                self.git.work.log.info("Took the credentials out of the repository's configuration", setting=key)

    def clear_locks(self) -> None:
        """Remove files that killed Git programs left behind. Those of this agent have ended by now."""
        inside = self.directory
        for each in [*inside.glob("*.lock"), *(inside / "refs").rglob("*.lock"), *inside.glob("objects/*.lock")]:
            each.unlink(missing_ok=True)
        for folder in ("objects", "objects/pack"):
            for pattern in _GARBAGE:
                for each in (inside / folder).glob(pattern):
                    with suppress(OSError):
                        each.unlink()
        for each in (inside / "objects").glob("*/tmp_obj_*"):
            each.unlink(missing_ok=True)
        # Git LFS resumes only `.part` files, and never removes the others.
        begun = inside / "lfs" / "incomplete"
        if is_directory(begun.parent) and is_directory(begun):
            for each in begun.iterdir():
                if each.suffix != ".part":
                    each.unlink(missing_ok=True)

    def commit(self, name: str) -> str | None:
        """Return the commit of a name; None if it does not exist."""
        done = self.git.tried(self.place, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return done.output.decode().strip() if done.code == 0 else None

    def branch(self) -> str | None:
        """Return the full name of HEAD's branch, which may have no commits; None for a detached HEAD."""
        done = self.git.tried(self.place, "symbolic-ref", "--quiet", "HEAD")
        return os.fsdecode(done.output).strip() if done.code == 0 else None

    @property
    def is_shallow(self) -> bool:
        return (self.directory / "shallow").exists()


def is_directory(path: Path) -> bool:
    """Return whether the path is a directory, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def addresses_removed(text: str) -> str:
    """Remove user and password from URLs in a string."""
    return re.sub(r"(?<=://)[^/\s]*@", "", text)
