"""A committer: a working copy of a repository, with the usual commands of Git and Git LFS."""

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.agents.transfer.git.server import Forge


@dataclass(frozen=True)
class Author:
    """A clone of a bare repository on this machine."""

    folder: Path
    forge: Forge
    name: str = "model.git"

    @property
    def bare(self) -> Path:
        return self.forge.folder / self.name

    def git(self, *words: str, check: bool = True, feed: bytes | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=variables(self.folder), capture_output=True, check=False, input=feed
        )
        assert not check or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode(errors="replace").strip()

    def commit(self, files: dict[str, bytes], message: str = "Change") -> str:
        """Commits files and pushes them, with the branch that is checked out; gives the commit."""
        for path, data in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(data)
        self.git("add", "--force", "--", *files) if files else None
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        self.git("push", "--quiet", "origin", "HEAD", "--tags")
        return self.head

    def lfs(self, files: dict[str, bytes]) -> dict[str, bytes]:
        """Puts content to the server of Git LFS; gives the pointers to commit."""
        found = {}
        for path, data in files.items():
            oid = hashlib.sha256(data).hexdigest()
            (self.forge.objects(self.name) / oid).write_bytes(data)
            found[path] = pointer(data)
        return found

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")


def pointer(data: bytes) -> bytes:
    """What Git itself has of a file in Git LFS."""
    digest = hashlib.sha256(data).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(data)}\n".encode()


def variables(home: Path) -> dict[str, str]:
    """Nothing of the machine's own configuration."""
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in WHO.items()}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **who}


WHO = {"NAME": "Author", "EMAIL": "author@example.com", "DATE": "2026-01-01T00:00:00Z"}


def author(folder: Path, forge: Forge, name: str = "model.git", *words: str) -> Author:
    """A new repository on the server, and somebody who commits to it."""
    forge.repository(name, *words)
    folder.mkdir(parents=True)
    found = Author(folder, forge, name)
    found.git("init", "--quiet", "-b", "main", *words)
    found.git("remote", "add", "origin", str(found.bare))
    return found
