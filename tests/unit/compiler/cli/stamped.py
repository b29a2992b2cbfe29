"""`stowplan` in this process, with a cache folder of its own, and what it compiled.

`tests/command/test_stamp.py` shows that a process whose command has nothing to do imports nothing heavy.
"""

import json
from dataclasses import dataclass
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import stowplan.library.constructs  # noqa: F401 - brings the Node that `synth` needs
from stowplan.compiler.cli import app
from stowplan.compiler.repository.load import Checkout

DAMAGED = ("", "{", "[]", "{}", '{"program": 1}')
"""Contents of a stamp that nothing has written whole."""


@dataclass(frozen=True)
class Ended:
    """What a command said, and whether it only repeated what the one before had said."""

    code: int
    stdout: str
    did_nothing: bool

    @property
    def outcome(self) -> tuple[int, str]:
        return self.code, self.stdout


@dataclass(frozen=True)
class Stowplan:
    """One command on one repository."""

    command: str
    repo: Path
    cache: Path

    def __call__(self, *arguments: str, check: bool = True, **variables: str) -> Ended:
        begun: list[str] = []
        variables |= {"XDG_CACHE_HOME": str(self.cache), "XDG_STATE_HOME": str(self.cache.with_name("state"))}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Checkout, "__init__", partialmethod(_noted, Checkout.__init__, begun))
            done = CliRunner(env=variables).invoke(
                app, [self.command, str(self.repo), *arguments], catch_exceptions=False
            )
        assert done.exit_code == 0 or not check, done.output
        return Ended(done.exit_code, done.stdout, not begun)


def _noted(own: Checkout, real: Any, begun: list[str], *arguments: Any) -> None:
    begun.append("")
    real(own, *arguments)


def append(path: Path, text: str) -> None:
    """Write at the end of a file."""
    path.write_text(path.read_text() + text)


def begin_with_mark(path: Path) -> None:
    """Make a spec one line behind a byte order mark, with what there is to be said of at its begin."""
    spec = yaml.safe_load(path.read_text())
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"spec": spec.pop("spec"), **spec}).encode())
