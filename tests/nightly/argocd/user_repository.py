"""A user's Git repository: specs are edited, compiled and pushed as a user would."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.client import Manifest
from tests.cluster.shared import load_one


@dataclass(frozen=True)
class UserRepository:
    """A working copy with its bare remote."""

    folder: Path

    @classmethod
    def create(cls, folder: Path, remote: Path) -> "UserRepository":
        """An empty repository whose branch `main` is pushed to the new bare repository `remote`."""
        _git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(remote))
        _git(folder, "init", "--quiet", "--initial-branch=main", "work")
        work = folder / "work"
        _git(work, "remote", "add", "origin", str(remote))
        return cls(work)

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def write(self, path: str, text: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def synth(self) -> subprocess.CompletedProcess[str]:
        """Run `stowplan synth` on the repository."""
        return self.stowplan("synth", str(self.folder))

    def stowplan(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "stowplan.compiler", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def commit(self) -> str:
        """Commit everything and push it; gives the commit's id."""
        _git(self.folder, "add", "--all")
        _git(
            self.folder, "-c", "user.name=user", "-c", "user.email=user@example.com", "commit", "--quiet", "-m", "Edit"
        )
        _git(self.folder, "push", "--quiet", "origin", "main")
        return _git(self.folder, "rev-parse", "HEAD").strip()

    def changed(self) -> list[str]:
        """Paths that differ from the last commit, as `git status` sorts them."""
        lines = _git(self.folder, "status", "--porcelain", "--untracked-files=all").splitlines()
        return [line[3:] for line in lines]

    def manifests(self, folder: str, kind: str = "") -> list[Manifest]:
        """The compiled objects below a folder of the output, of one kind or all."""
        found = [load_one(path) for path in sorted((self.out / folder).rglob("*.yaml"))]
        return [manifest for manifest in found if kind in ("", manifest["kind"])]

    def manifest(self, folder: str, kind: str, name: str = "") -> Any:
        """The one compiled object of the kind whose name begins so."""
        (found,) = [item for item in self.manifests(folder, kind) if item["metadata"]["name"].startswith(name)]
        return found


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout
