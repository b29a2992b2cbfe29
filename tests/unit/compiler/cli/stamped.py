"""`stowplan` in this process, with a cache folder of its own, and what it compiled.

`tests/command/test_stamp.py` shows that a process whose command has nothing to do imports nothing heavy.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import stowplan.library.constructs  # noqa: F401 - brings the Node that `synth` needs
from stowplan.compiler import pipeline
from stowplan.compiler.cli import app
from stowplan.compiler.compiling import compile_specs
from stowplan.compiler.lowering.lower import lower

DAMAGED = ("", "{", "[]", "{}", '{"program": 1}')
"""Contents of a stamp that nothing has written whole."""


@dataclass(frozen=True)
class Ended:
    """What a command said, whether it only repeated what the one before had said, and the specs that it compiled."""

    code: int
    stdout: str
    did_nothing: bool
    compiled: tuple[str, ...]

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
        compiled: list[str] = []
        variables |= {"XDG_CACHE_HOME": str(self.cache), "XDG_STATE_HOME": str(self.cache.with_name("state"))}
        with pytest.MonkeyPatch.context() as patch:
            for name in ("compile_repository", "validate_repository"):
                patch.setattr(pipeline, name, partial(_noted, getattr(pipeline, name), begun))
            patch.setattr(compile_specs, "lower", partial(_counted, lower, compiled))
            done = CliRunner(env=variables).invoke(
                app, [self.command, str(self.repo), *arguments], catch_exceptions=False
            )
        assert done.exit_code == 0 or not check, done.output
        return Ended(done.exit_code, done.stdout, not begun, tuple(compiled))


def _noted(real: Any, begun: list[str], *arguments: Any, **options: Any) -> Any:
    begun.append("")
    return real(*arguments, **options)


def _counted(real: Any, compiled: list[str], specs: Sequence[Any], *rest: Any) -> Any:
    compiled += [spec.id.name for spec in specs]
    return real(specs, *rest)


def append(path: Path, text: str) -> None:
    """Write at the end of a file."""
    path.write_text(path.read_text() + text)


def begin_with_mark(path: Path) -> None:
    """Make a spec one line behind a byte order mark, with what there is to be said of at its begin."""
    spec = yaml.safe_load(path.read_text())
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"spec": spec.pop("spec"), **spec}).encode())
