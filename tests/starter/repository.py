"""A Git repository from `stowplan init`, and commands that run in it as people and CI services run them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(sys.executable).parent
"""Where the installed commands are: `stowplan`, `pre-commit`, `check-jsonschema`."""


@dataclass(frozen=True)
class StarterRepository:
    """The repository below `root`; what commands keep for themselves stands beside it."""

    root: Path

    def run(self, *command: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """A command in the root, with its errors among its output."""
        own = {
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.root.parent),
            "PRE_COMMIT_HOME": str(self.root.parent / "pre-commit"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        return subprocess.run(
            command,
            cwd=self.root,
            env=own | dict(environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def must(self, *command: str) -> str:
        """The output of a command that has to succeed."""
        done = self.run(*command)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def edit(self, path: str, before: str, after: str) -> int:
        """Puts one text in the place of another, which must be there; the number of its line."""
        file = self.root / path
        start, found, rest = file.read_text().partition(before)
        assert found
        file.write_text(start + after + rest)
        return start.count("\n") + 1


def begin(root: Path) -> StarterRepository:
    """`git init`, `stowplan init`, `stowplan synth`, and a first commit."""
    root.mkdir(parents=True)
    repo = StarterRepository(root)
    for command in ("git init -q -b main", "stowplan init", "stowplan synth", "git add -A", "git commit -qm begin"):
        repo.must(*command.split())
    return repo
