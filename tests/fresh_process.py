"""`stowplan` as users start it: a separate process with a separate cache folder."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

_LIGHT = """
import sys
from stowplan.compiler.cli import main
try:
    main()
finally:
    heavy = {"cdk8s", "jsii", "yaml", "kubernetes", "orjson"} & sys.modules.keys()
    print("imported:", sorted(heavy), file=sys.stderr)
"""
_COUNTING = """
import sys
from stowplan.compiler.compiling import compile_specs
from stowplan.compiler.cli import main
lower = compile_specs.lower
def counted(specs, *rest):
    print("compiled:", *(spec.id.name for spec in specs), file=sys.stderr)
    return lower(specs, *rest)
compile_specs.lower = counted
main()
"""

Ended = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Stowplan:
    """One command on one repository."""

    command: str
    repo: Path
    cache: Path

    def __call__(self, *arguments: str, check: bool = True, **variables: str) -> Ended:
        """A run; stderr says which heavy packages were imported."""
        return self._run(_LIGHT, arguments, variables, check=check)

    def compiled(self, *, check: bool = True) -> list[str]:
        """The names of specs that a run compiled."""
        return self._run(_COUNTING, (), {}, check=check).stderr.split()

    def _run(self, program: str, arguments: tuple[str, ...], variables: dict[str, str], *, check: bool) -> Ended:
        return subprocess.run(
            [sys.executable, "-c", program, self.command, str(self.repo), *arguments],
            env={
                **os.environ,
                "XDG_CACHE_HOME": str(self.cache),
                "XDG_STATE_HOME": str(self.cache.with_name("state")),
                **variables,
            },
            capture_output=True,
            text=True,
            check=check,
            timeout=300,
        )


def saw_nothing_to_do(ended: Ended) -> bool:
    """Whether a run imported nothing heavy."""
    return ended.stderr == "imported: []\n"


def append(path: Path, text: str) -> None:
    """Write at the end of a file."""
    path.write_text(path.read_text() + text)


def begin_with_mark(path: Path) -> None:
    """Make a spec one line behind a byte order mark, with what there is to be said of at its begin."""
    spec = yaml.safe_load(path.read_text())
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"spec": spec.pop("spec"), **spec}).encode())
